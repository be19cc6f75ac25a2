package drift

import (
	"fmt"
	"io/fs"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/test/provisioned"
)

// planned compiles the smallest cluster with something changed.
func planned(t *testing.T, change func(*spec.Cluster)) plan.Plan {
	t.Helper()
	c := spec.Cluster{
		Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal, MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
		APIVIPs: []netip.Addr{
			netip.MustParseAddr("192.0.2.5"),
		}, IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")},
	}
	if change != nil {
		change(&c)
	}
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// wanted is a small host.
func wanted(t *testing.T) Wanted {
	t.Helper()
	b := asset.Builder{By: "test"}
	b.File(plan.Path, 0o644, []byte("one\ntwo\nthree\n"))
	b.File(pods+"keepalived.yaml", 0o644, []byte("kind: Pod\n"))
	b.File("/usr/local/bin/onprem-install", 0o755, []byte("#!/bin/sh\n"))
	b.Units(asset.Unit{Name: "onprem-install.service", Enabled: true, Contents: []byte("[Unit]\n")})
	b.Units(asset.Unit{Name: "quiet.service", Contents: []byte("[Unit]\n")})
	set, err := b.Set()
	if err != nil {
		t.Fatal(err)
	}
	p := planned(t, nil)
	return Wanted{
		Role:    role.Master,
		Plan:    p,
		Goods:   set,
		There:   &p,
		Retired: []string{pods + "haproxy.yaml", pods + "keepalived.yaml", pods + "speaker.yaml"},
	}
}

// host has everything of a set, as Ignition leaves it: units are enabled by links.
func host(w Wanted) fstest.MapFS {
	root := fstest.MapFS{}
	for _, f := range w.Goods.Tree() {
		if f.Path != asset.PresetPath {
			root[inside(f.Path)] = &fstest.MapFile{Data: f.Contents, Mode: f.Mode}
		}
	}
	root["etc/systemd/system/multi-user.target.wants/onprem-install.service"] = &fstest.MapFile{
		Mode: fs.ModeSymlink | 0o777,
		Data: []byte("/etc/systemd/system/onprem-install.service"),
	}
	return root
}

func TestCompare(t *testing.T) {
	const install, wants = "etc/systemd/system/onprem-install.service", "etc/systemd/system/multi-user.target.wants/onprem-install.service"
	manifest := inside(pods + "keepalived.yaml")
	for _, tt := range []struct {
		name   string
		change func(fstest.MapFS)
		want   string // path kind worst, of each change
		note   string // a part of the first one's
	}{
		{"nothing", func(fstest.MapFS) {}, "", ""},
		{"a file that is not ours", func(h fstest.MapFS) { h["etc/passwd"] = &fstest.MapFile{} }, "", ""},
		{"a text", func(h fstest.MapFS) { h[manifest] = &fstest.MapFile{Data: []byte("kind: pod\n"), Mode: 0o644} }, "keepalived.yaml differs moves", ""},
		{"a text and permissions", func(h fstest.MapFS) { h[manifest] = &fstest.MapFile{Data: []byte("kind: pod\n"), Mode: 0o664} },
			"keepalived.yaml differs moves", "mode 0664, and 0644 in the plan"},
		{"permissions", func(h fstest.MapFS) { h[manifest].Mode = 0o600 }, "keepalived.yaml " +
			"permissions nothing", "mode 0600, and 0644 in the plan"},
		{"permissions of a program", func(h fstest.MapFS) { h["usr/local/bin/onprem-install"].Mode = 0o644 }, "onprem-install permissions later", ""},
		{"permissions of a program that can be run", func(h fstest.MapFS) { h["usr/local/bin/onprem-install"].Mode = 0o775 }, "onprem-install permissions nothing", ""},
		{"none", func(h fstest.MapFS) { delete(h, manifest) }, "keepalived.yaml missing restart", "1 lines, mode 0644"},
		{"a directory in its place", func(h fstest.MapFS) { h[manifest] = &fstest.MapFile{Mode: fs.ModeDir | 0o755} }, "keepalived.yaml unreadable unknown", "is no regular file there"},
		{"far too long", func(h fstest.MapFS) { h[manifest] = &fstest.MapFile{Data: make([]byte, mostRead+1), Mode: 0o644} }, "keepalived.yaml unreadable unknown", "4194305 bytes"},
		{"what another plan gives", func(h fstest.MapFS) { h[inside(pods+"haproxy.yaml")] = &fstest.MapFile{} }, "haproxy.yaml left over may-move", "gives it to no master"},
		{"a speaker that another plan gives", func(h fstest.MapFS) { h[inside(pods+"speaker.yaml")] = &fstest.MapFile{} }, "speaker.yaml left over may-move", "gives it to no master"},
		{"a unit that nothing starts", func(h fstest.MapFS) { delete(h, wants) }, "onprem-install.service not enabled later", ""},
		{"a unit that is missing", func(h fstest.MapFS) { delete(h, wants); delete(h, install) }, "onprem-install.service missing later", ""},
		{"a unit that another unit requires", func(h fstest.MapFS) {
			h["etc/systemd/system/kubelet.service.requires/onprem-install.service"] = h[wants]
			delete(h, wants)
		}, "", ""},
		{"a unit that a preset enables", func(h fstest.MapFS) {
			delete(h, wants)
			h["etc/systemd/system-preset/20-ignition.preset"] = &fstest.MapFile{Data: []byte("# x\nenable onprem-install.service\n")}
		}, "", ""},
		{"a unit that a preset disables", func(h fstest.MapFS) {
			delete(h, wants)
			h["etc/systemd/system-preset/20-ignition.preset"] = &fstest.MapFile{Data: []byte("disable onprem-install.service\n")}
		}, "onprem-install.service not enabled later", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := wanted(t)
			h := host(w)
			tt.change(h)
			r := Compare(h, w)
			var got []string
			for _, c := range r.Changes {
				got = append(
					got,
					fmt.Sprint(c.Path[strings.LastIndex(c.Path, "/")+1:], " ", c.Kind, " ",
						c.Effects[0].Level),
				)
				if c.Kind == Differs != (c.Diff != "") {
					t.Errorf("%s %s, with the difference %q", c.Path, c.Kind, c.Diff)
				}
			}
			if strings.Join(got, "; ") != tt.want || r.Compared != 6 {
				t.Fatalf("%q of %d, want %q of 6", strings.Join(got, "; "), r.Compared, tt.want)
			}
			if tt.note != "" && !strings.Contains(r.Changes[0].Note, tt.note) {
				t.Errorf("note %q, want %q", r.Changes[0].Note, tt.note)
			}
			worst := Nothing
			for _, c := range r.Changes {
				worst = slices.MaxFunc([]Level{worst, c.Effects[0].Level}, Level.Compare)
			}
			if r.Worst != worst {
				t.Errorf("worst %s, want %s", r.Worst, worst)
			}
		})
	}
}

// TestEffects holds what a file's other text does, on which host.
func TestEffects(t *testing.T) {
	w := wanted(t)
	boot := w
	boot.Role = role.Bootstrap
	for _, tt := range []struct {
		on   Wanted
		kind Kind
		path string
		want Level
		text string // a part
	}{
		{w, Differs, pods + "keepalived.yaml", Moves, "within 342 ms, of which 0 without service"},
		{w, Missing, pods + "keepalived.yaml", Restart, "becomes a candidate for the VIPs"},
		{w, Differs, pods + "haproxy.yaml", MayMove, "within 3042 ms"},
		{w, Missing, pods + "haproxy.yaml", Restart, "balances the API"},
		{w, Differs, pods + "coredns.yaml", Restart, "name server is away"},
		{w, Missing, pods + "coredns.yaml", Restart, "answers for the cluster's names"},
		{w, Differs, "/etc/kubernetes/disabled-manifests/keepalived.yaml", Nothing, "no program reads it"},
		{w, Differs, plan.Path, Reload, "VIPs and connections stay"},
		{w, Missing, plan.Path, Restart, "waits for it"},
		{Wanted{Role: role.Worker, Plan: w.Plan}, Differs, plan.Path, Unknown, "has no valid plan"},
		{boot, Differs, plan.Path, Later, "restart onprem-keepalived"},
		{boot, Missing, plan.Path, Later, "and begin"},
		{boot, Differs, asset.UnitDir + "/onprem-keepalived.service", Later, "the API's VIP " +
			"is released in order"},
		{boot, Differs, pods + "keepalived.yaml", Unknown, "not known"},
		{w, Differs, asset.UnitDir + "/onprem-vip-leave.service", Later, "Do not restart it"},
		{w, Differs, asset.UnitDir + "/crio-.scope.d/10-onprem-vip-leave.conf", Later, "containers that are started then"},
		{w, Differs, asset.UnitDir + "/kubelet.service.d/10-onprem-wait-resolv.conf", Later, "when the unit is started next"},
		{w, Differs, "/etc/motd", Unknown, "not known"},
	} {
		got := tt.on.effects(Change{Path: tt.path, Kind: tt.kind}, false)
		if len(got) != 1 || got[0].Level != tt.want || !strings.Contains(got[0].Text, tt.text) {
			t.Errorf("%s %s of a %s: %v, want %s with %q", tt.path, tt.kind, tt.on.Role, got,
				tt.want, tt.text)
		}
	}
}

// TestNodeIP holds what is reported if OpenShift's own program chose a node's addresses until now:
// with ours the node may have another one, and how it keeps the former.
func TestNodeIP(t *testing.T) {
	const theirs, ours, known = "ExecStart=/bin/podman run", "ExecStart=/usr/local/bin/onprem-infra node-ip set", "run/nodeip-configuration/primary-ip"
	b := asset.Builder{By: "test"}
	b.Units(asset.Unit{Name: "nodeip-configuration.service", Contents: []byte(ours + " --retry\n")})
	set, err := b.Set()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, is, known string
		level           Level
		text, not       string
	}{
		{"theirs", theirs, "192.0.2.20", MayMove, "NODEIP_HINT=192.0.2.20", ""},
		{"theirs, before it ran", theirs, "", MayMove, "NODEIP_PREFER=lowest", "NODEIP_HINT"},
		{"theirs, and what is no address", theirs, "\x1b[31m", MayMove, "NODEIP_PREFER=lowest", "NODEIP_HINT"},
		{"ours of another release", ours, "192.0.2.20", Later, "when the unit is started next", "NODEIP"},
	} {
		root := fstest.MapFS{inside(nodeIPUnit): {Data: []byte(tt.is), Mode: 0o644}}
		if tt.known != "" {
			root[known] = &fstest.MapFile{Data: []byte(tt.known), Mode: 0o644}
		}
		report := Compare(root, Wanted{Role: role.Master, Plan: planned(t, nil), Goods: set})
		if len(report.Changes) != 1 || len(report.Changes[0].Effects) != 1 {
			t.Fatalf("%s: %+v", tt.name, report.Changes)
		}
		e := report.Changes[0].Effects[0]
		if e.Level != tt.level || !strings.Contains(e.Text, tt.text) ||
			tt.not != "" && strings.Contains(e.Text, tt.not) {
			t.Errorf("%s: %+v, want %s with %q", tt.name, e, tt.level, tt.text)
		}
	}
}

// TestMeanings holds what a decision of the cluster does, where the host has another one.
func TestMeanings(t *testing.T) {
	addr := netip.MustParseAddr
	shares := func(c *spec.Cluster) {
		*c, _ = spec.Parse("cluster.yaml", []byte(provisioned.Describe("one")), spec.Knobs{})
	}
	for _, tt := range []struct {
		name        string
		there, next func(*spec.Cluster)
		want        Level
		text        string // a part of the first one's
	}{
		{"nothing", nil, nil, Reload, "read their configuration again"},
		{"an image", nil, func(c *spec.Cluster) {
			c.Images = map[string]string{spec.HAProxyImage: "registry.example.com/haproxy:2"}
		}, Reload, "VIPs and connections stay"},
		{"the timing", nil, func(c *spec.Cluster) { c.Timing = "compat" }, TwoHolders, "as lan/unicast, and this one would use it as compat/unicast"},
		{"unicast", nil, func(c *spec.Cluster) { c.VRRP = spec.Multicast }, TwoHolders, "--migrate"},
		{"a migration", nil, func(c *spec.Cluster) { c.Timing, c.MigrateFrom.Timing = "compat", "lan" }, MayMove, "from lan/unicast to compat/unicast"},
		{"a migration under way", func(c *spec.Cluster) { c.Timing, c.MigrateFrom.Timing = "compat", "lan" },
			func(c *spec.Cluster) { c.Timing, c.MigrateFrom.Timing = "compat", "lan" }, Reload, ""},
		{"a migration that is over", func(c *spec.Cluster) { c.Timing, c.MigrateFrom.Timing = "compat", "lan" }, func(c *spec.Cluster) { c.Timing = "compat" }, Reload, ""},
		{"a virtual router ID", nil, func(c *spec.Cluster) { c.VRIDs = map[string]uint8{"ingress": 77} }, TwoHolders, "of the ingress VIP"},
		{"the virtual router ID of the provisioning address", shares, func(c *spec.Cluster) {
			shares(c)
			c.VRIDs = map[string]uint8{"provisioning": 77}
		}, TwoHolders, "of the provisioning address is"},
		{"the API's VIP", nil, func(c *spec.Cluster) { c.APIVIPs[0] = addr("192.0.2.7") }, Moves, "the API's VIP is 192.0.2.5, and becomes 192.0.2.7"},
		{"the ingress VIP goes", nil, func(c *spec.Cluster) { c.IngressVIPs[0] = addr("192.0.2.8") }, Moves, "the ingress VIP is 192.0.2.6"},
		{"a DNS VIP", nil, func(c *spec.Cluster) { c.DNSVIP = addr("192.0.2.9") }, Moves, "whichever VIP this node holds goes to another one first"},
		{"a DNS VIP goes", func(c *spec.Cluster) { c.DNSVIP = addr("192.0.2.9") }, nil, Moves, "the DNS VIP is 192.0.2.9, and becomes none"},
		{"the name", func(c *spec.Cluster) { c.VRIDs = map[string]uint8{"api": 1, "ingress": 2} },
			func(c *spec.Cluster) { c.Name, c.VRIDs = "other", map[string]uint8{"api": 1, "ingress": 2} }, Moves, "ostest, becomes other"},
		{"the name, where it is a password", func(c *spec.Cluster) { c.Timing, c.VRIDs = "compat", map[string]uint8{"api": 1, "ingress": 2} },
			func(c *spec.Cluster) {
				c.Name, c.Timing, c.VRIDs = "other", "compat", map[string]uint8{"api": 1, "ingress": 2}
			}, TwoHolders, "password"},
		{"the domain", nil, func(c *spec.Cluster) { c.BaseDomain = "example.org" }, Reload, ""},
		{"the machine networks", nil, func(c *spec.Cluster) {
			c.MachineNetworks = append(c.MachineNetworks, netip.MustParsePrefix("198.51.100.0/24"))
		}, MayMove, "another address"},
		{"machine networks that the operator does not know", func(c *spec.Cluster) { c.Platform, c.MachineNetworks = spec.Nutanix, nil },
			func(c *spec.Cluster) { c.Platform = spec.Nutanix }, MayMove, "Make all nodes in " +
				"one of the two ways"},
		{"machine networks that it does know", func(c *spec.Cluster) { c.MachineNetworks = nil }, nil, MayMove, "another address"},
		{"a load balancer of the user's", nil, func(c *spec.Cluster) { c.LoadBalancer = spec.UserManaged }, Moves, "no node holds them"},
		{"a load balancer of ours", func(c *spec.Cluster) { c.LoadBalancer = spec.UserManaged }, nil, Moves, "must have given them up"},
		{"a port", nil, func(c *spec.Cluster) { c.Ports = map[string]uint16{"lb-stats": 30001} }, MayMove, "other ports"},
		{"the topology", nil, func(c *spec.Cluster) { c.Topology = spec.DualReplica }, Unknown, "another kind"},
		{"the kubeconfig", nil, func(c *spec.Cluster) { c.Nodes.Kubeconfig = "/etc/other/kubelet.conf" }, Reload, ""},
		{"the certificates", nil, func(c *spec.Cluster) { c.Nodes.CertificateDirectories = []string{"/etc/other/pki"} }, Reload, ""},
		{"the namespace", nil, func(c *spec.Cluster) { c.Nodes.Namespace = "other" }, Unknown, "another namespace"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			there := planned(t, tt.there)
			got := Wanted{
				Role:  role.Master,
				Plan:  planned(t, tt.next),
				Goods: wanted(t).Goods,
				There: &there,
			}.effects(Change{Path: plan.Path, Kind: Differs}, false)
			if len(got) == 0 || got[0].Level != tt.want || !strings.Contains(got[0].Text, tt.text) {
				t.Errorf("%v, want %s with %q", got, tt.want, tt.text)
			}
			if slices.ContainsFunc(got, func(e Effect) bool { return strings.Contains(e.Text, "priorities are counted") }) {
				t.Errorf("%v: the priorities are the same", got)
			}
			if !slices.ContainsFunc(got, func(e Effect) bool { return e.Level == Reload }) {
				t.Errorf("%v: the daemons' files have the checksum of this one", got)
			}
		})
	}
}

// TestMeaningsOfAllFields holds that another field of the plan needs its effect on a
// live host.
func TestMeaningsOfAllFields(t *testing.T) {
	var spoken []string
	for _, m := range allMeanings {
		spoken = append(spoken, m.of...)
	}
	var fields []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[plan.Plan]()) {
		if f.IsExported() && !f.Anonymous {
			fields = append(fields, f.Name)
		}
	}
	slices.Sort(spoken)
	slices.Sort(fields)
	if !slices.Equal(spoken, fields) {
		t.Errorf("there are meanings of\n%v\nand a plan has\n%v", spoken, fields)
	}
}

// TestText holds that what stands in a host's file does nothing to a terminal, and does not fill
// it.
// TestReaders holds which daemons are reported to read their configuration again, and which pod to
// begin anew, when a node gets another cluster.json.
func TestReaders(t *testing.T) {
	b := asset.Builder{By: "test"}
	for _, pod := range []string{"coredns", "haproxy", "keepalived"} {
		b.File(pods+pod+".yaml", 0o644, []byte("kind: Pod\n"))
	}
	set, err := b.Set()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name        string
		next        func(*spec.Cluster)
		reads, anew string
	}{
		{"the place of the records", func(c *spec.Cluster) { c.DNSRecords = spec.External }, "coredns keepalived", ""},
		{"a port", func(c *spec.Cluster) { c.Ports = map[string]uint16{"lb-stats": 30001} }, "coredns keepalived haproxy", ""},
		{"a port of another program", func(c *spec.Cluster) { c.Ports = map[string]uint16{"supervise": 30001} }, "coredns keepalived", ""},
		{"another timing, with which no client is reported", func(c *spec.Cluster) { c.Timing = "compat" }, "coredns keepalived", ""},
		{"a migration", func(c *spec.Cluster) { c.Timing, c.MigrateFrom.Timing = "vm", "lan" }, "coredns keepalived", ""},
		{"a DNS VIP", func(c *spec.Cluster) { c.DNSVIP = netip.MustParseAddr("192.0.2.9") }, "coredns", "keepalived"},
	} {
		there := planned(t, nil)
		var reads, anew []string
		for _, e := range (Wanted{Role: role.Master, Plan: planned(t, tt.next), Goods: set, There: &there}).effects(Change{Path: plan.Path, Kind: Differs}, false) {
			switch e.Level {
			case Reload:
				reads = append(reads, e.Of...)
			default:
				anew = append(anew, e.Of...)
			}
		}
		if got := strings.Join(reads, " "); got != tt.reads || strings.Join(anew, " ") != tt.anew {
			t.Errorf("%s: %s read it again, want %s; %v begin anew, want %q", tt.name, got,
				tt.reads, anew, tt.anew)
		}
	}
}
