package matrix

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/coreos/ignition/v2/config/v3_2/types"
	"github.com/vincent-petithory/dataurl"
	"sigs.k8s.io/yaml"

	"github.com/onprem-infra/onprem-infra/cluster/mco"
	"github.com/onprem-infra/onprem-infra/cluster/mco/static"
	"github.com/onprem-infra/onprem-infra/cluster/pod"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// controllerConfig is the cell as the operator is told of it. The proxy is what no file of ours may
// name: it can hold a password, and is read on the host.
func (c cell) controllerConfig() *controllerConfigSpec {
	config := &controllerConfigSpec{DNS: &dns{}, IPFamilies: ipFamilies(c.families), Images: map[string]string{"infraImageKey": "r/other:1"}}
	for key, ref := range refs {
		config.Images[key] = ref
	}
	config.DNS.Spec.BaseDomain = "ostest.lab.example.com"
	config.Proxy = &proxy{HTTPProxy: "http://user:secret@proxy.example.com:3128", HTTPSProxy: "http://user:secret@proxy.example.com:3128", NoProxy: ".example.com"}
	status := &platformStatus{Type: platformType(c.platform.Type())}
	config.Infra = &infrastructure{Status: infrastructureStatus{PlatformStatus: status, ControlPlaneTopology: topologyMode(c.topology.is)}}
	if c.noVIPs && c.platform == spec.VSphere {
		return config // it has no section of its own then
	}
	full := fullStatus{APIServerInternalIPs: c.api(), IngressIPs: c.ingress(), LoadBalancer: &loadBalancer{balancerType(c.balancer)}, DNSRecordsType: recordsType(c.records)}
	for _, network := range c.networks() {
		full.MachineNetworks = append(full.MachineNetworks, cidr(network))
	}
	switch c.platform {
	case spec.BareMetal:
		status.BareMetal = &baremetalStatus{fullStatus: full}
		if c.routed {
			status.BareMetal.VIPManagement, config.BGPVIPPeersJSON = "BGP", c.peersJSON()
			config.Images["frrK8sImage"] = frrRef
		}
	case spec.OpenStack:
		status.OpenStack = (*openstackStatus)(&full)
	case spec.VSphere:
		status.VSphere = (*vsphereStatus)(&full)
	case spec.Nutanix:
		status.Nutanix = &nutanixStatus{full.APIServerInternalIPs, full.IngressIPs, full.LoadBalancer, full.DNSRecordsType}
	case spec.OVirt:
		status.Ovirt = &ovirtStatus{full.APIServerInternalIPs, full.IngressIPs, full.LoadBalancer}
	}
	return config
}

// operated is a cluster without what the operator is not told of: Nutanix and oVirt clusters' machine
// networks, and all that would stand in a section which a vSphere cluster does not have. Of the
// families it is told by itself.
func (c cell) operated(described spec.Cluster) spec.Cluster {
	none := c.platform == spec.VSphere && c.noVIPs
	if none {
		described.DNSRecords = ""
	}
	if none || c.platform == spec.Nutanix || c.platform == spec.OVirt {
		described.MachineNetworks, described.Families = nil, c.families
	}
	return described
}

// set is an Ignition config as our goods.
func set(t *testing.T, config types.Config) asset.Set {
	t.Helper()
	b := asset.Builder{By: "operator"}
	for _, f := range config.Storage.Files {
		contents, err := dataurl.DecodeString(*f.Contents.Source)
		if err != nil {
			t.Fatal(err)
		}
		b.Goods(asset.File{Path: f.Path, Mode: filemode(*f.Mode), Contents: contents.Data})
	}
	for _, u := range config.Systemd.Units {
		unit := asset.Unit{Name: u.Name, Enabled: u.Enabled != nil && *u.Enabled}
		if u.Contents != nil {
			unit.Contents = []byte(*u.Contents)
		}
		for _, d := range u.Dropins {
			unit.DropIns = append(unit.DropIns, asset.DropIn{Name: d.Name, Contents: []byte(*d.Contents)})
		}
		b.Units(unit)
	}
	made, err := b.Set()
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// alike holds two trees against each other, byte for byte.
func alike(got, want []asset.File) error {
	key := func(f asset.File) string { return fmt.Sprintf("%s %04o", f.Path, f.Mode) }
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(want):
			return fmt.Errorf("%s is one too many", key(got[i]))
		case i >= len(got):
			return fmt.Errorf("%s is missing", key(want[i]))
		case key(got[i]) != key(want[i]):
			return fmt.Errorf("%s stands where %s should", key(got[i]), key(want[i]))
		case string(got[i].Contents) != string(want[i].Contents):
			return fmt.Errorf("%s: got\n%s\nwant\n%s", key(got[i]), got[i].Contents, want[i].Contents)
		}
	}
	return nil
}

// tree is the templates for clusters with the settings of elections that are said.
func tree(t *testing.T, elections spec.Cluster) []asset.File {
	t.Helper()
	made, err := mco.Tree(elections)
	if err != nil {
		t.Fatal(err)
	}
	return made.Tree()
}

// TestOperator holds that the templates, filled in for a cluster, are what that cluster's nodes get
// otherwise: each file, mode, unit and whether it is enabled, none more and none missing.
func TestOperator(t *testing.T) {
	for name, elections := range map[string]spec.Cluster{
		"as it comes": {},
		"as told": {Timing: "compat", VRRP: spec.Multicast, MigrateFrom: spec.Former{Timing: "vm"}, VRIDs: map[string]uint8{"api": 9},
			Ports: map[string]uint16{"lb": 9460, "supervise": 9461}, MDNS: spec.MDNSEnabled, Metrics: spec.MetricsNode},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := newOperator(tree(t, elections))
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range cells() {
				if name == "as told" && i%7 != 0 {
					continue
				}
				described, _ := c.described(t)
				described = c.operated(described)
				described.Timing, described.VRRP, described.MigrateFrom = elections.Timing, elections.VRRP, elections.MigrateFrom
				described.VRIDs, described.Ports, described.MDNS, described.Metrics = elections.VRIDs, elections.Ports, elections.MDNS, elections.Metrics
				p := compiled(t, described)
				for _, r := range p.Roles() {
					if !slices.Contains(role.Nodes(), r) {
						continue
					}
					config, err := o.render(c.controllerConfig(), string(r))
					if err != nil {
						t.Fatalf("%s, %s: %v", c, r, err)
					}
					if err := alike(set(t, config).Tree(), goods(t, p, r).Tree()); err != nil {
						t.Fatalf("%s, %s: %v", c, r, err)
					}
				}
			}
		})
	}
}

func filemode(bits int) fs.FileMode { return fs.FileMode(bits) }

// TestOperatorBootstrap holds that the manifests of the bootstrap command, filled in for a cluster,
// are the pods and the cluster.json of its bootstrap machine, and that each pod is told where its
// cluster.json is.
func TestOperatorBootstrap(t *testing.T) {
	o, err := newOperator(tree(t, spec.Cluster{}))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for at := range o.templates {
		if name, is := strings.CutPrefix(at, "/manifests/"); is {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if want := []string{"on-prem/coredns-corefile.tmpl", "on-prem/coredns.yaml", "on-prem/keepalived.conf.tmpl", "on-prem/keepalived.yaml"}; !slices.Equal(names, want) {
		t.Errorf("the bootstrap command is given %q, and knows %q alone", names, want)
	}
	count := map[int]int{}
	for _, c := range cells() {
		described, _ := c.described(t)
		p := compiled(t, c.operated(described))
		made, err := o.bootstrap(c.controllerConfig())
		if err != nil {
			t.Fatalf("%s: %v", c, err)
		}
		count[len(made)]++
		want := map[string]string{static.KeepalivedFile: string(plan.Encode(p)), static.CoreDNSFile: string(plan.Encode(p))}
		for _, s := range static.Bootstrap(p) {
			want["/etc/kubernetes/manifests/"+s.Name+".yaml"] = string(pod.Render(s))
		}
		for at, text := range made {
			if text != want[at] {
				t.Fatalf("%s: %s: got\n%s\nwant\n%s", c, at, text, want[at])
			}
		}
		if _, runs := made["/etc/kubernetes/manifests/keepalived.yaml"]; len(p.VIPs.API) > 0 {
			if vip, _ := p.BootstrapRuns(); vip != runs {
				t.Errorf("%s: keepalived runs on its bootstrap machine: %v by the operator, %v by us", c, runs, vip)
			}
		}
		if _, runs := made["/etc/kubernetes/manifests/coredns.yaml"]; len(p.VIPs.API) > 0 {
			if _, dns := p.BootstrapRuns(); dns != runs {
				t.Errorf("%s: CoreDNS runs on its bootstrap machine: %v by the operator, %v by us", c, runs, dns)
			}
		}
	}
	for _, files := range []int{0, 2, 4} {
		if count[files] == 0 {
			t.Errorf("no cluster has %d files: %v", files, count)
		}
	}
	for _, at := range []string{static.KeepalivedFile, static.CoreDNSFile} {
		if path.Dir(path.Dir(at)) != "/etc/kubernetes/static-pod-resources" {
			t.Errorf("%s is not where bootkube copies resources to", at)
		}
	}
}

// TestOperatorHostile puts hostile text where a ControllerConfig holds text: cluster.json is one
// document with the fields that it has with any other text, each text is one value, and a host that
// is given such a value says so. Images are a release's own.
func TestOperatorHostile(t *testing.T) {
	o, err := newOperator(tree(t, spec.Cluster{}))
	if err != nil {
		t.Fatal(err)
	}
	made := func(c *controllerConfigSpec) (fields map[string]any, findings spec.Findings) {
		t.Helper()
		config, err := o.render(c, "master")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range set(t, config).Files() {
			if f.Path == plan.Path {
				var document struct{ Spec map[string]any }
				if err := yaml.Unmarshal(f.Contents, &document); err != nil {
					t.Fatalf("%v\n%s", err, f.Contents)
				}
				_, findings = spec.Parse(plan.Path, f.Contents, spec.Knobs{})
				return document.Spec, findings
			}
		}
		t.Fatal("there is no cluster.json")
		return nil, nil
	}
	fields, _ := made(cells()[0].controllerConfig())
	for _, hostile := range []string{
		"x\ny", "\"x\": y", `x", "y": "z`, `x\`, "x\"]\n", "{{ .PullSecret }}", "x # y", "\x00", "\x7f", "\u0085", "\u2028", "ü", "\\u0022", " ", "'", "<&>", "*x", "!x y", "\U0001f600",
	} {
		for what, put := range map[string]func(*controllerConfigSpec){
			"clusterDomain": func(c *controllerConfigSpec) { c.DNS.Spec.BaseDomain = hostile },
			"families":      func(c *controllerConfigSpec) { c.IPFamilies = ipFamilies(hostile) },
			"topology":      func(c *controllerConfigSpec) { c.Infra.Status.ControlPlaneTopology = topologyMode(hostile) },
			"apiVIPs": func(c *controllerConfigSpec) {
				c.Infra.Status.PlatformStatus.BareMetal.APIServerInternalIPs = []string{hostile}
			},
			"ingressVIPs": func(c *controllerConfigSpec) { c.Infra.Status.PlatformStatus.BareMetal.IngressIPs = []string{hostile} },
			"machineNetworks": func(c *controllerConfigSpec) {
				c.Infra.Status.PlatformStatus.BareMetal.MachineNetworks = []cidr{cidr(hostile)}
			},
		} {
			c := cells()[0].controllerConfig()
			put(c)
			got, findings := made(c)
			value := got[what]
			if list, ok := value.([]any); ok && len(list) == 1 {
				value = list[0]
			}
			if value != hostile || len(got) != len(fields) {
				t.Errorf("%q in %s becomes %q among %d fields of %d", hostile, what, value, len(got), len(fields))
			}
			if !findings.HasErrors() {
				t.Errorf("%q in %s: a host finds no fault", hostile, what)
			}
		}
	}
}
