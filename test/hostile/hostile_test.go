package hostile

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/bmc"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/units"
)

// hostile is text that means something to one of the languages that our files are written in, or to
// what reads them next.
func hostile() []string {
	return []string{
		"x\ny", "x\r\ny: z", "\n", "x\n}\n.:54 {", "x\n[Service]\nExecStart=/bin/false", "x\n  evil: true", "x\\\ny",
		`x"y`, "x'y", "x`y`", `x\`, `\x0a`, "$(reboot)", "${PATH}", "$x", "{$PATH}", "x;y", "x|y", "x&&y", "x>y", "x*", "~",
		"%n%%", "{", "}", "{{ .Name }}", "{{", "#x", "x #y", "!x", "@x", "x y", " x", "x ", "\t", "-x", "--privileged", "/etc/passwd", "../x",
		"x\x00y", "\x00", "\x1b[31m", "x\u0085y", "x\u2028y", "x\u2029y", "\u202ex", "\ufeffx", "\u00a0", "ü", "K", "ſ",
		strings.Repeat("x", 64), strings.Repeat("x", 300), strings.Repeat("x.", 2_000), "import /x", "<<", "*x", "&x", "x: y", "null", "true", "1", "",
		"fe80::1%x\n}", "::ffff:192.0.2.5", "192.0.2.5\n", "registry.example.com/x\n:1", "registry.example.com/x%n:1", "x.example.com}",
	}
}

// documents are inputs with every field that is read, by name.
func documents(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{
		"old.yaml": old,
		"old-ovirt.yaml": strings.NewReplacer("baremetal", "ovirt", "apiVIP", "api_vip", "ingressVIP", "ingress_vip", "replicas: 2", "replicas: 3",
			"arbiter: {replicas: 1}\n", "").Replace(old),
		"wide.yaml":        wide,
		"provisioned.yaml": provisioned,
		"routed.yaml":      routed,
		"preview.yaml":     preview,
	}
	for _, name := range []string{
		"install-config-baremetal-dual", "install-config-nutanix-dual", "install-config-openstack-dual", "install-config-ovirt-dual",
		"install-config-vsphere-dual", "cluster-none-dual", "images",
	} {
		text, err := os.ReadFile(filepath.Join("../../cmd/onprem-infra/testdata/TestExampleText", name+".golden"))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = strings.ReplaceAll(string(text), "\n  # ", "\n  ") // what stands behind a # is a field
	}
	all["cluster-of-servers"] = strings.Replace(all["cluster-none-dual"], "    bmcCA: bmc-ca.pem\n", "    expectedServers: [192.0.2.1]\n", 1)
	all["cluster-migrating"] = all["cluster-none-dual"] + "  migrateFrom: {timing: compat, vrrp: multicast}\n"
	all["cluster-of-a-template"] = regexp.MustCompile(`(?m)^metadata:\n.*\n|^  baseDomain: `).ReplaceAllString(all["cluster-none-dual"], "") + "  families: DualStack\n"
	all["cluster-of-a-template"] = regexp.MustCompile(`(?m)^example.com .*$`).ReplaceAllString(all["cluster-of-a-template"], "  clusterDomain: prod.example.com")
	return all
}

// old has the fields that no example has any more.
const old = `apiVersion: v1
baseDomain: example.com
metadata: {name: prod}
controlPlane: {replicas: 2, architecture: amd64}
arbiter: {replicas: 1}
capabilities: {baselineCapabilitySet: None}
additionalTrustBundle: none
networking: {machineCIDR: 192.0.2.0/24}
platform:
  baremetal:
    apiVIP: 192.0.2.5
    ingressVIP: 192.0.2.6
    dnsRecordsType: Internal
    libvirtURI: qemu:///system
    loadBalancer: {type: UserManaged}
    hosts: [{name: m0, role: master, bootMACAddress: '52:54:00:00:00:01'}]
`

// routed has the fields of hosts that announce their VIPs, as far as no example has them.
const routed = `apiVersion: onprem-infra.io/v1alpha1
kind: Cluster
metadata: {name: prod}
spec:
  baseDomain: example.com
  platform: none
  controlPlaneReplicas: 3
  timingProof: {m0: 900}
  machineNetworks: [192.0.2.0/24]
  apiVIPs: [198.51.100.5]
  ingressVIPs: [198.51.100.6]
  images: {frrImage: r.example.com/f:1, haproxyImage: r.example.com/h:1, corednsImage: r.example.com/c:1, baremetalRuntimeCfgImage: r.example.com/o:1}
  vipManagement: bgp
  bgp:
    asn: 64512
    mode: preferred
    timing: lan
    fabricDepth: 2
    communities: ["64512:100"]
    racks:
    - name: first
      network: 192.0.2.0/24
      holdTime: 9s
      keepaliveTime: 3s
      bfdInterval: 200ms
      bfdMultiplier: 4
      peers:
      - {address: 192.0.2.1, asn: 65101, source: 192.0.2.9, hops: 1, ttlSecurity: true}
      - {interface: eno1, asn: external}
`

// preview has the fields of the installer's developers' preview for hosts that announce their VIPs.
const preview = `apiVersion: v1
baseDomain: example.com
metadata: {name: prod}
controlPlane: {replicas: 3}
networking: {machineNetwork: [{cidr: 192.0.2.0/24}]}
platform:
  baremetal:
    apiVIPs: [198.51.100.5]
    ingressVIPs: [198.51.100.6]
    bgpVIPConfig:
      localASN: 64512
      communities: ["64512:100"]
      peers: [{peerAddress: 192.0.2.1, peerASN: 65101, password: secret, port: 179, holdTime: 9s, keepaliveTime: 3s, bfdEnabled: "true", ebgpMultiHop: false}]
    hosts: [{name: m0, role: master, bootMACAddress: '52:54:00:00:00:01', bgpPeers: [{peerAddress: 192.0.2.2, peerASN: 65102, failureDetection: BFD, peerReachability: MultiHop, holdTimeSeconds: 9, keepaliveTimeSeconds: 3}]}]
`

// provisioned has the fields of hosts that are provisioned, as far as no example has them.
const provisioned = `apiVersion: onprem-infra.io/v1alpha1
kind: Cluster
metadata: {name: prod}
spec:
  baseDomain: example.com
  platform: none
  topology: SingleReplica
  machineNetworks: [192.0.2.0/24]
  apiVIPs: [192.0.2.5]
  ingressVIPs: [192.0.2.6]
  images: {keepalivedImage: r.example.com/k:1, haproxyImage: r.example.com/h:1, corednsImage: r.example.com/c:1, baremetalRuntimeCfgImage: r.example.com/o:1}
  provisioning: {network: managed, address: two, ip: 172.22.0.3, bootstrapIP: 172.22.0.2, volumeClaim: ironic}
  hosts:
  - name: m0
    role: master
    bootMAC: 52:54:00:00:00:01
    bmc: {address: 'redfish://bmc-0/redfish/v1/Systems/1', credentials: {file: bmc.yaml}}
    network: {interfaces: [{name: eno1, mac-address: '52:54:00:00:00:01', mtu: 1500}]}
`

// wide has the fields that are only held against the installer's rules.
const wide = `apiVersion: v1beta4
baseDomain: example.com
metadata: {name: prod}
publish: External
additionalTrustBundlePolicy: Always
cpuPartitioningMode: None
credentialsMode: Manual
featureSet: CustomNoUpgrade
featureGates: [A=true]
operatorPublishingStrategy: {ingress: External}
imageContentSources: [{source: registry.example.com/a}]
imageDigestSources: [{source: registry.example.com/a}]
proxy: {httpProxy: 'http://proxy.example.com'}
controlPlane:
  replicas: 2
  hyperthreading: Enabled
  fencing: {credentials: [{address: 'redfish://a'}, {address: 'redfish://b'}]}
compute: [{name: worker, replicas: 1}]
networking:
  type: OVNKubernetes
  machineNetwork: [{cidr: 192.0.2.0/24}]
  serviceCIDR: 172.30.0.0/16
  clusterNetworks: [{cidr: 10.128.0.0/14, hostPrefix: 23}]
  clusterNetworkMTU: 1400
  ovnKubernetesConfig: {ipv4: {internalJoinSubnet: 100.65.0.0/16}}
platform:
  baremetal: {apiVIPs: [192.0.2.5], ingressVIPs: [192.0.2.6], provisioningNetwork: Disabled}
`

// parsed is the cluster of a text, with the images that it needs.
func parsed(name, text string) (spec.Cluster, spec.Findings) {
	if name == "images" {
		images, findings := spec.ParseImages(name, []byte(text))
		cluster, more := spec.Parse("old.yaml", []byte(old), spec.Knobs{})
		cluster.Images = images
		return cluster, append(findings, more...)
	}
	cluster, findings := spec.Parse(name, []byte(text), spec.Knobs{})
	if cluster.Images == nil {
		cluster.Images = images()
	}
	return cluster, findings
}

func images() map[string]string {
	return map[string]string{spec.KeepalivedImage: "r/k:1", spec.HAProxyImage: "r/h:1", spec.CoreDNSImage: "r/c:1", spec.RuntimeCfgImage: "r/b:1", spec.FRRImage: "r/f:1"}
}

// TestInput puts hostile text into every value and every key of every document.
func TestInput(t *testing.T) {
	for name, text := range documents(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster, findings := parsed(name, text)
			want, err := rendered(cluster, harmless)
			if findings.HasErrors() || err != nil {
				t.Fatalf("%v, %v", findings, err)
			}
			var root yaml.Node
			if err := yaml.Unmarshal([]byte(text), &root); err != nil {
				t.Fatal(err)
			}
			d := document{t: t, name: name, root: &root, rendered: map[string][]string{}}
			accepted := 0
			for _, n := range scalars(part(name, &root)) {
				accepted += d.try(n, want)
			}
			if accepted == 0 {
				t.Error("nothing is accepted: the test shows nothing about what is rendered")
			}
			t.Logf("%d accepted", accepted)
		})
	}
}

// document is an input whose words are exchanged.
type document struct {
	t        *testing.T
	name     string
	root     *yaml.Node
	rendered map[string][]string // by cluster: most words are no business of ours and change nothing
}

// try puts each hostile text in the place of one word, and returns how many were accepted. The
// files have the structure that they have with a word of letters there, or, when that is refused,
// with the word that was there.
func (d document) try(n *yaml.Node, want []string) (accepted int) {
	was := *n
	defer func() { *n = was }()
	for _, s := range append([]string{"zzz"}, hostile()...) {
		if s == "" && was.Value == "Disabled" {
			continue // to the installer the mode of provisioning is missing then, and another one is meant
		}
		n.Tag, n.Value, n.Style = "!!str", s, yaml.DoubleQuotedStyle
		text, err := yaml.Marshal(d.root)
		if err != nil {
			d.t.Fatal(err)
		}
		cluster, findings := parsed(d.name, string(text))
		oneLine(d.t, findings)
		if findings.HasErrors() {
			continue
		}
		got, err := d.shape(cluster)
		if missing := (plan.MissingImages{}); errors.As(err, &missing) {
			continue // its key is not written in that way
		} else if err != nil {
			d.t.Errorf("%q for %q is accepted: %v", s, was.Value, err)
		}
		if s == "zzz" {
			want = got
			continue
		}
		if accepted++; !slices.Equal(got, want) {
			d.t.Errorf("%q for %q changes what is rendered: %s", s, was.Value, difference(got, want))
		}
	}
	return accepted
}

func (d document) shape(c spec.Cluster) ([]string, error) {
	key := fmt.Sprintf("%+v", c)
	if known, ok := d.rendered[key]; ok {
		return known, nil
	}
	shape, err := rendered(c, harmless)
	if err == nil {
		d.rendered[key] = shape
	}
	return shape, err
}

// part is where a document differs from the others: the platform's section, but for one document of
// each kind, and the one with what no other has, the whole.
func part(name string, root *yaml.Node) *yaml.Node {
	top := root.Content[0]
	for i, key := range top.Content {
		if key.Value == "platform" && name != "install-config-baremetal-dual" && name != "wide.yaml" {
			return top.Content[i+1]
		}
	}
	return root
}

// scalars are all values and keys that are words.
func scalars(n *yaml.Node) []*yaml.Node {
	if n.Kind == yaml.ScalarNode {
		return []*yaml.Node{n}
	}
	var all []*yaml.Node
	for _, c := range n.Content {
		all = append(all, scalars(c)...)
	}
	return all
}

// oneLine holds that a finding is one line of a terminal or a log, whatever it quotes.
func oneLine(t *testing.T, findings spec.Findings) {
	t.Helper()
	for _, f := range findings {
		if strings.ContainsFunc(f.String(), func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("a finding holds what no terminal should get: %q", f)
		}
	}
}

func difference(got, want []string) string {
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			return fmt.Sprintf("entry %d of %d and %d: %q, want %q", i, len(got), len(want), got[min(i, len(got)):min(i+1, len(got))], want[min(i, len(want)):min(i+1, len(want))])
		}
	}
	return "nowhere"
}

// TestEveryField holds that no field which is read is missing from the documents, so that a new one
// is attacked from its first day.
func TestEveryField(t *testing.T) {
	var words strings.Builder
	for _, text := range documents(t) {
		var root yaml.Node
		if err := yaml.Unmarshal([]byte(text), &root); err != nil {
			t.Fatal(err)
		}
		for _, n := range scalars(&root) {
			words.WriteString(" " + n.Value + " ")
		}
	}
	fields := fieldsRead(t)
	if len(fields) < 30 {
		t.Fatalf("only %d fields are read: %q", len(fields), fields)
	}
	for _, field := range fields {
		if !strings.Contains(words.String(), " "+field+" ") {
			t.Errorf("%s is read and stands in no document here: put it into an example, or into old", field)
		}
	}
}

// fieldsRead are the names of fields in the code of package spec and of the rooms below it by which it
// reads: the last argument of Get and Field, and the spellings of the platforms.
func fieldsRead(t *testing.T) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{.Dir}}", "../../shared/spec").Output()
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for dir := range strings.Lines(string(out)) {
		if dir = strings.TrimSpace(dir); strings.Contains(dir+"/", "/shared/spec/") {
			own, err := filepath.Glob(dir + "/*.go")
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, own...)
		}
	}
	var names []string
	add := func(e ast.Expr) {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			name, _ := strconv.Unquote(lit.Value)
			names = append(names, name)
		}
	}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if sel, ok := n.Fun.(*ast.SelectorExpr); ok && (sel.Sel.Name == "Get" || sel.Sel.Name == "Field") {
					add(n.Args[len(n.Args)-1])
				}
			case *ast.CompositeLit:
				if name, ok := n.Type.(*ast.Ident); ok && name.Name == "spelling" {
					for _, e := range n.Elts {
						add(e)
					}
				}
			}
			return true
		})
	}
	return names
}

// fullest has every field of a Cluster; a new one must be given a value here.
func fullest() spec.Cluster {
	controller, err := bmc.Parse("redfish://bmc-0.example.com/redfish/v1/Systems/1")
	if err != nil {
		panic(err) // it is a constant
	}
	return spec.Cluster{
		Name: "prod", BaseDomain: "example.com", Platform: spec.BareMetal, Topology: spec.HighlyAvailable, ControlPlaneReplicas: 3, Families: "DualStack",
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8:1::/64")},
		APIVIPs:         []netip.Addr{netip.MustParseAddr("192.0.2.5"), netip.MustParseAddr("2001:db8:1::5")},
		IngressVIPs:     []netip.Addr{netip.MustParseAddr("192.0.2.6"), netip.MustParseAddr("2001:db8:1::6")},
		DNSClients:      []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")},
		DNSVIP:          netip.MustParseAddr("192.0.2.7"), LoadBalancer: spec.Managed, DNSRecords: spec.Internal, Images: images(),
		Timing: "compat", VRRP: spec.Unicast, OnClash: clash.Refuse, MigrateFrom: spec.Former{Timing: "vm", VRRP: spec.Multicast}, VRIDs: map[string]uint8{"api": 9, "ingress": 10}, Ports: map[string]uint16{"lb": 9460},
		TimingProof: map[string]uint32{"m0": 900, "m1": 1100, "m2": 2000},
		Hosts: []spec.Host{{Name: "m0", Role: "master", BootMACAddress: "52:54:00:00:00:01", BootMode: machine.UEFI,
			BMC: machine.BMC{Address: controller, Credentials: "bmc.yaml", Verify: machine.VerifyCA}, RootDisk: machine.RootDisk{Model: "m"}}},
		Provisioning: provisioning.Settings{Network: provisioning.Managed, Interface: "eno1", BMCCAFile: "ca.pem", VolumeClaim: "ironic", ExpectedServers: []string{"fe80::1"}, DHCP: provisioning.DHCP{NTP: []string{"time.example.com"}}},
		MDNS:         spec.MDNSEnabled, Metrics: spec.MetricsNode, Distribution: spec.OpenShift,
		Routing: spec.Routing{Management: spec.ByBoth, BGP: routing.BGPSettings{ASN: 64512, Timers: routing.Timers{Timing: "lan"}, FabricDepth: 1, Communities: []string{"64512:100"},
			Racks: []routing.Rack{{Name: "a", Network: netip.MustParsePrefix("192.0.2.0/24"), Peers: []routing.Peer{
				{Address: netip.MustParseAddr("192.0.2.1"), ASN: 65101, Source: routing.Source{Prefix: netip.MustParsePrefix("192.0.2.9/32")}, Hops: 2, TTLSecurity: true}, {Interface: "eno1"}}}}}},
		Nodes: spec.Nodes{
			Namespace: "infra", Kubeconfig: "/etc/kubernetes/kubelet.conf", KubeletUnit: "kubelet.service", ControlPlaneLabel: "example.com/head",
			CertificateDirectories: []string{"/etc/kubernetes/pki"},
		},
	}
}

// TestCluster does the same to a Cluster that was made by another program, without a look at it by
// the parser.
func TestCluster(t *testing.T) {
	for i, v := 0, reflect.ValueOf(fullest()); i < v.NumField(); i++ {
		if v.Field(i).IsZero() {
			t.Errorf("%s has no value: give it one in fullest", v.Type().Field(i).Name)
		}
	}
	want, err := rendered(fullest(), harmless)
	if err != nil {
		t.Fatal(err)
	}
	// A map's order changes from walk to walk, so places are counted in one and the same walk.
	for place, ok := 0, true; ok; place++ {
		for _, s := range hostile() {
			if s == "" {
				continue // nothing was said
			}
			c := fullest()
			at := place
			name, found := poison(t, reflect.ValueOf(&c).Elem(), "Cluster", s, &at)
			if ok = found; !found {
				break
			}
			if got, err := rendered(c, harmless); err != nil && !errors.Is(err, errRefused) {
				t.Errorf("%q in %s: %v", s, name, err)
			} else if err == nil && !slices.Equal(got, want) {
				t.Errorf("%q in %s changes what is rendered: %s", s, name, difference(got, want))
			}
		}
	}
}

// poison puts a text into the at-th place of a value that holds text, and says where that is.
func poison(t *testing.T, v reflect.Value, name, s string, at *int) (string, bool) {
	t.Helper()
	switch v.Type() {
	case reflect.TypeFor[secret.Text](), reflect.TypeFor[mac.MAC]():
		return "", false // the one is encoded nowhere, the other is six bytes
	}
	if addr, ok := v.Interface().(netip.Addr); ok {
		if *at--; *at < 0 {
			v.Set(reflect.ValueOf(netip.AddrFrom16(addr.As16()).WithZone(s)))
		}
		return name, *at < 0
	}
	switch v.Kind() {
	case reflect.String:
		if *at--; *at < 0 {
			v.SetString(s)
		}
		return name, *at < 0
	case reflect.Map:
		for _, key := range slices.SortedFunc(slices.Values(v.MapKeys()), func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) }) {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			if where, ok := poison(t, value, name+"["+key.String()+"]", s, at); ok {
				v.SetMapIndex(key, value)
				return where, true
			}
			if *at--; *at < 0 {
				v.SetMapIndex(reflect.ValueOf(s), value)
				return name + " as a key", true
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if where, ok := poison(t, v.Index(i), fmt.Sprintf("%s[%d]", name, i), s, at); ok {
				return where, true
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type() == reflect.TypeFor[netip.Prefix]() {
				return "", false // holds no text
			}
			if where, ok := poison(t, v.Field(i), name+"."+v.Type().Field(i).Name, s, at); ok {
				return where, true
			}
		}
	case reflect.Bool, reflect.Int, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32:
	case reflect.Pointer: // to a truth value
	default:
		t.Fatalf("%s is a %s: say here how text gets into one", name, v.Kind())
	}
	return "", false
}

// TestHost does the same to what a machine says of itself and of its neighbours.
func TestHost(t *testing.T) {
	p, err := plan.Compile(fullest())
	if err != nil {
		t.Fatal(err)
	}
	want, err := daemons(p, harmless)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range hostile() {
		for name, tt := range map[string]struct {
			change func(*host)
			drops  bool // the value may be left out, and what depends on it
		}{
			"header":             {change: func(h *host) { h.header += s }},
			"interface":          {change: func(h *host) { h.link = s }, drops: true},
			"node":               {change: func(h *host) { h.node = s }},
			"zone":               {change: func(h *host) { h.zone = s }},
			"search":             {change: func(h *host) { h.resolv = strings.Replace(h.resolv, "a.example", s, 1) }, drops: true},
			"name server":        {change: func(h *host) { h.resolv = strings.Replace(h.resolv, "198.51.100.1", s, 1) }, drops: true},
			"name server's zone": {change: func(h *host) { h.resolv = strings.Replace(h.resolv, "eth0", s, 1) }, drops: true},
			"resolv.conf":        {change: func(h *host) { h.resolv = s }, drops: true},
		} {
			h := harmless
			tt.change(&h)
			got, err := daemons(p, h)
			if err != nil {
				t.Errorf("%q as %s: %v", s, name, err)
			} else if !tt.drops && !slices.Equal(got, want) {
				t.Errorf("%q as %s changes what is rendered: %s", s, name, difference(got, want))
			}
		}
	}
}

// TestDirect gives hostile text to those who write files, past everybody who would have refused it.
func TestDirect(t *testing.T) {
	install := units.Host{}.Install
	want, err := systemdUnit(install("x", "/x", units.NetworkOnline).Contents)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range hostile() {
		if len(s) > 400 {
			continue // systemd's library reads lines of 2048 bytes, and no image that is read has so long a name
		}
		u := install(s, "/x", units.NetworkOnline)
		if got, err := systemdUnit(u.Contents); err != nil || !slices.Equal(got, want) {
			t.Errorf("the image %q makes %v:\n%s", s, err, u.Contents)
		}
		var set asset.Set
		if err := set.AddFile(asset.File{Path: "/etc/a", Contents: []byte(s)}); err != nil {
			t.Fatal(err)
		}
		if err := set.AddUnit(u); err != nil {
			t.Fatal(err)
		}
		_ = set.AddFile(asset.File{Path: "/etc/" + s, Contents: []byte(s)}) // what is not refused must come back
		_ = set.AddUnit(asset.Unit{Name: s + ".service", Contents: []byte(service)})
		if err := unchanged(set); err != nil {
			t.Errorf("%q: %v", s, err)
		}
		for _, f := range set.Tree() {
			if strings.ContainsAny(f.Path, "\n\x00") || f.Path == asset.PresetPath && string(f.Contents) != "enable onprem-install.service\n" {
				t.Errorf("%q makes the file %q:\n%s", s, f.Path, f.Contents)
			}
		}
		if name, err := keepalived.ParseInterface(s); err == nil && !plain.MatchString(string(name)) {
			t.Errorf("%q is an interface of keepalived's", name)
		}
	}
}

const service = "[Service]\nExecStart=/bin/true\n"
