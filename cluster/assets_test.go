package cluster

import (
	"bytes"
	"errors"
	"net/netip"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/bmc"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// served is a cluster with all images.
func served() spec.Cluster {
	return spec.Cluster{
		Name: "prod", BaseDomain: "example.com", Platform: spec.BareMetal,
		APIVIPs:     []netip.Addr{netip.MustParseAddr("192.0.2.5")},
		IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")},
		Images: map[string]string{
			spec.KeepalivedImage: "r/keepalived:1", spec.HAProxyImage: "r/haproxy:1",
			spec.CoreDNSImage: "r/coredns:1", spec.RuntimeCfgImage: "r/own:1",
			spec.FRRImage: "r/frr:1",
		},
	}
}

// compiled is a plan of served, changed by change.
func compiled(t *testing.T, change func(*spec.Cluster)) plan.Plan {
	t.Helper()
	c := served()
	change(&c)
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func dual(c *spec.Cluster) {
	c.APIVIPs = []netip.Addr{netip.MustParseAddr("192.0.2.5"), netip.MustParseAddr("2001:db8::5")}
	c.IngressVIPs = []netip.Addr{
		netip.MustParseAddr("192.0.2.6"), netip.MustParseAddr("2001:db8::6"),
	}
}

// provisions is a cluster of any Kubernetes whose nodes share the provisioning address.
func provisions(c *spec.Cluster) {
	address, _ := bmc.Parse("ipmi://198.51.100.1") // it is one
	c.Distribution, c.Provisioning.Network = spec.Kubernetes, provisioning.Managed
	c.Hosts = []spec.Host{{Name: "w0", Role: machine.Worker, BootMACAddress: "52:54:00:00:00:01", BMC: machine.BMC{Address: address, Credentials: "/etc/bmc"}}}
	c.Images[spec.IronicImage] = "r/ironic:1"
}

func userManaged(c *spec.Cluster) { c.LoadBalancer = spec.UserManaged }

// routed is a cluster whose hosts announce its VIPs to their routers, of two racks.
func routed(c *spec.Cluster) {
	c.APIVIPs, c.IngressVIPs = []netip.Addr{netip.MustParseAddr("198.51.100.5")}, []netip.Addr{netip.MustParseAddr("198.51.100.6")}
	c.MachineNetworks = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/25"), netip.MustParsePrefix("192.0.2.128/25")}
	c.Routing = spec.Routing{Management: spec.ByBGP, BGP: routing.BGPSettings{ASN: 64512}}
	for _, n := range c.MachineNetworks {
		c.Routing.BGP.Racks = append(c.Routing.BGP.Racks, routing.Rack{Network: n, Peers: []routing.Peer{{Address: n.Addr().Next(), ASN: 65101}}})
	}
}

// both is such a cluster whose nodes elect holders of the VIPs beside that.
func both(c *spec.Cluster) {
	routed(c)
	c.Routing.Management = spec.ByBoth
	c.APIVIPs, c.IngressVIPs = []netip.Addr{netip.MustParseAddr("192.0.2.5")}, []netip.Addr{netip.MustParseAddr("192.0.2.6")}
}

func withoutVIPs(c *spec.Cluster) {
	c.Platform, c.APIVIPs, c.IngressVIPs = spec.VSphere, nil, nil
}

func arbiter(
	c *spec.Cluster,
) {
	c.Topology, c.ControlPlaneReplicas = spec.HighlyAvailableArbiter, 2
}

// mustAssets is what a node gets.
func mustAssets(t *testing.T, p plan.Plan, r role.Role) asset.Set {
	t.Helper()
	set, err := Assets(p, r)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestMatrix holds which pods are where (D-14), and that nothing runs where there is no VIP (P-02).
func TestMatrix(t *testing.T) {
	const (
		runs  = manifests
		waits = disabled
	)
	nothing := map[string]string{}
	tests := []struct {
		name   string
		change func(*spec.Cluster)
		role   role.Role
		want   map[string]string // pod -> directory
	}{
		{"master", func(*spec.Cluster) {}, role.Master, map[string]string{
			keepalived: runs, haproxy: runs, coredns: runs,
		}},
		{"worker", func(*spec.Cluster) {}, role.Worker, map[string]string{
			keepalived: runs, coredns: runs,
		}},
		{"arbiter", arbiter, role.Arbiter, map[string]string{coredns: runs}},
		{"master beside an arbiter", arbiter, role.Master, map[string]string{
			keepalived: runs, haproxy: runs, coredns: runs,
		}},
		{"master of two", func(c *spec.Cluster) {
			c.ControlPlaneReplicas = 2
		}, role.Master, map[string]string{keepalived: runs, haproxy: runs, coredns: runs}},
		{"single node", func(c *spec.Cluster) {
			c.ControlPlaneReplicas = 1
		}, role.Master, map[string]string{keepalived: runs, haproxy: runs, coredns: runs}},
		{"any Kubernetes", func(c *spec.Cluster) {
			c.Platform = spec.None
		}, role.Master, map[string]string{keepalived: runs, haproxy: runs, coredns: runs}},
		{"records elsewhere", func(c *spec.Cluster) {
			c.DNSRecords = spec.External
		}, role.Worker, map[string]string{keepalived: runs, coredns: runs}},
		{"user-managed master", userManaged, role.Master, map[string]string{
			keepalived: waits, haproxy: waits, coredns: runs,
		}},
		{"user-managed worker", userManaged, role.Worker, map[string]string{
			keepalived: waits, coredns: runs,
		}},
		{"user-managed arbiter", func(
			c *spec.Cluster,
		) {
			userManaged(c)
			arbiter(c)
		}, role.Arbiter, map[string]string{coredns: runs}},
		{"user-managed vSphere", func(c *spec.Cluster) { userManaged(c); c.Platform = spec.VSphere }, role.Worker, map[string]string{keepalived: waits, coredns: runs}},
		{"routed master", routed, role.Master, map[string]string{
			speaker: runs, haproxy: runs, coredns: runs,
		}},
		{"routed worker", routed, role.Worker, map[string]string{speaker: runs, coredns: runs}},
		{"routed arbiter", func(c *spec.Cluster) { routed(c); arbiter(c) }, role.Arbiter, map[string]string{coredns: runs}},
		{"master both ways", both, role.Master, map[string]string{
			keepalived: runs, speaker: runs, haproxy: runs, coredns: runs,
		}},
		{"worker both ways", both, role.Worker, map[string]string{keepalived: runs, speaker: runs, coredns: runs}},
		{"master without VIPs", withoutVIPs, role.Master, nothing},
		{"worker without VIPs", withoutVIPs, role.Worker, nothing},
		{"arbiter without VIPs", func(
			c *spec.Cluster,
		) {
			withoutVIPs(c)
			arbiter(c)
		}, role.Arbiter, nothing},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := compiled(t, tt.change)
			paths := mustAssets(t, p, tt.role).Paths()
			got := map[string]string{}
			for _, f := range paths {
				if dir := path.Dir(f); dir == runs || dir == waits {
					got[strings.TrimSuffix(path.Base(f), ".yaml")] = dir
				}
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("pods %v, want %v", got, tt.want)
			}
			// What belongs to a VIP that the node may hold is there with its pod, and only then.
			held := tt.want[keepalived] == runs
			for f, want := range map[string]bool{
				"/etc/systemd/system/onprem-vip-leave.service":                           held || tt.want[speaker] == runs,
				"/etc/systemd/system/crio-.scope.d/10-onprem-vip-leave.conf":             held || tt.want[speaker] == runs,
				"/etc/kubernetes/static-pod-resources/keepalived/scripts/chk_ingress.sh": held,
			} {
				if got := slices.Contains(paths, f); got != want {
					t.Errorf("%s is there: %v", f, got)
				}
			}
			for _, f := range []string{
				plan.Path, "/usr/local/bin/onprem-install",
				"/etc/systemd/system/onprem-install.service",
			} {
				if !slices.Contains(paths, f) {
					t.Errorf("%s is missing", f)
				}
			}
			p.Images = nil
			listed, err := Paths(p, tt.role)
			// It is listed where it may be.
			passwords := slices.Contains(listed, spoken.PasswordsFile)
			if speaks := tt.want[speaker] == runs; passwords != speaks || slices.Contains(paths, spoken.PasswordsFile) {
				t.Errorf("a file of passwords is listed: %v, of a node that speaks: %v", passwords, speaks)
			}
			listed = slices.DeleteFunc(listed, func(f string) bool { return f == spoken.PasswordsFile })
			if err != nil || !slices.Equal(listed, paths) {
				t.Errorf("Paths lists %v (%v), Assets has %v", listed, err, paths)
			}
		})
	}
}

// TestScripts holds the checks that scripts of keepalived's may call, under the names that they
// have on OpenShift's nodes of today.
func TestScripts(t *testing.T) {
	const dir = "/etc/kubernetes/static-pod-resources/keepalived/scripts/"
	ingress := map[string]string{
		"chk_ingress.sh": "ingress", "chk_ingress_ready.sh": "ingress-ready",
		"chk_default_ingress.sh": "default-ingress",
	}
	api := map[string]string{
		"chk_ocp_script.sh": "lb", "chk_ocp_script_both.sh": "both", "chk_mcs_script.sh": "mcs",
	}
	dns := map[string]string{"chk_dns.sh": "dns"}
	for _, tt := range []struct {
		role role.Role
		vip  netip.Addr
		want []map[string]string
	}{
		{role.Master, netip.Addr{}, []map[string]string{ingress, api}},
		{role.Worker, netip.Addr{}, []map[string]string{ingress}},
		{role.Master, netip.MustParseAddr("192.0.2.7"), []map[string]string{ingress, api, dns}},
		{role.Worker, netip.MustParseAddr("192.0.2.7"), []map[string]string{ingress}},
	} {
		r, want, got := tt.role, tt.want, map[string]string{}
		for _, f := range mustAssets(t, compiled(t, func(c *spec.Cluster) {
			c.DNSVIP = tt.vip
		}), r).Files() {
			if name, ok := strings.CutPrefix(f.Path, dir); ok {
				got[name] = string(f.Contents)
			}
		}
		count := 0
		for _, checks := range want {
			for script, check := range checks {
				count++
				if text := "#!/bin/sh\nexec /usr/local/bin/onprem-infra check " + check + "\n"; got[script] != text {
					t.Errorf("%s: %s is %q, want %q", r, script, got[script], text)
				}
			}
		}
		if len(got) != count {
			t.Errorf("%s has %v", r, got)
		}
	}
}

func TestNoSuchRole(t *testing.T) {
	for _, tt := range []struct {
		role role.Role
		want string
	}{
		{role.Bootstrap, `role "bootstrap" is not part of the cluster: choose one of [master worker arbiter]`},
		{role.Arbiter, "no node of the cluster is an arbiter: its topology is HighlyAvailable: leave the role out or set another topology"},
		{
			"king",
			`role "king" is not part of the cluster: choose one of [master worker arbiter]`,
		},
	} {
		set, err := Assets(compiled(t, func(*spec.Cluster) {}), tt.role)
		if err == nil || err.Error() != tt.want || len(set.Tree()) > 0 {
			t.Errorf("%s: %v, want %s", tt.role, err, tt.want)
		}
		if paths, again := Paths(compiled(t, func(*spec.Cluster) {}), tt.role); len(paths) > 0 ||
			again == nil || again.Error() != tt.want {
			t.Errorf("%s: Paths lists %v, %v", tt.role, paths, again)
		}
		if absent := (NoSuchRole{}); errors.As(err, &absent) != (tt.role == role.Arbiter) {
			t.Errorf("%s: %v", tt.role, err)
		}
	}
}

func TestMissingImages(t *testing.T) {
	none := func(c *spec.Cluster) { c.Images = nil }
	tests := []struct {
		name   string
		change func(*spec.Cluster)
		role   role.Role
		want   string
	}{
		{"of a master", none, role.Master, "the master needs images.baremetalRuntimeCfgImage, images.keepalivedImage, images.haproxyImage, images.corednsImage: give them by --images FILE, or in a cluster.yaml by spec.images"},
		{"of a worker", none, role.Worker, "the worker needs images.baremetalRuntimeCfgImage, images.keepalivedImage, images.corednsImage: give them by --images FILE, or in a cluster.yaml by spec.images"},
		{"of an arbiter", func(c *spec.Cluster) { none(c); arbiter(c) }, role.Arbiter, "the arbiter needs images.baremetalRuntimeCfgImage, images.corednsImage: give them by --images FILE, or in a cluster.yaml by spec.images"},
		{"without VIPs", func(c *spec.Cluster) { none(c); withoutVIPs(c) }, role.Master, "the master needs images.baremetalRuntimeCfgImage: give it by --images FILE, or in a cluster.yaml by spec.images"},
		{"one", func(c *spec.Cluster) { delete(c.Images, spec.HAProxyImage) }, role.Master, "the master needs images.haproxyImage: give it by --images FILE, or in a cluster.yaml by spec.images"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			set, err := Assets(compiled(t, tt.change), tt.role)
			if missing := (plan.MissingImages{}); !errors.As(err, &missing) ||
				err.Error() != tt.want || len(set.Tree()) > 0 {
				t.Errorf("got %v\nwant %s", err, tt.want)
			}
		})
	}
}

// TestAssetsEqual holds that equal plans give equal bytes.
func TestAssetsEqual(t *testing.T) {
	for _, r := range role.Nodes() {
		one, two := mustAssets(t, compiled(t, arbiter), r), mustAssets(t, compiled(t, arbiter), r)
		if !reflect.DeepEqual(one.Tree(), two.Tree()) {
			t.Errorf("%s: the trees differ", r)
		}
	}
}

// TestNilIsEmptyIsAbsent holds P-01 for nodes: whatever list or map of the input is nil or empty, a
// node gets the same files.
func TestNilIsEmptyIsAbsent(t *testing.T) {
	for name, change := range map[string]func(
		*spec.Cluster,
	){"nothing to serve": withoutVIPs, "everything to serve": func(*spec.Cluster) {}} {
		c := served()
		change(&c)
		for i := range reflect.TypeFor[spec.Cluster]().NumField() {
			emptied := c
			switch field := reflect.ValueOf(&emptied).Elem().Field(i); {
			case field.Kind() == reflect.Slice && field.IsNil():
				field.Set(reflect.MakeSlice(field.Type(), 0, 0))
			case field.Kind() == reflect.Map && field.IsNil():
				field.Set(reflect.MakeMap(field.Type()))
			default:
				continue
			}
			for _, r := range []role.Role{role.Master, role.Worker} {
				want := mustAssets(t, compiled(t, change), r).Tree()
				got := mustAssets(t, compiled(t, func(c *spec.Cluster) { *c = emptied }), r).Tree()
				if !reflect.DeepEqual(got, want) {
					t.Errorf(
						"%s, %s: an empty %s changes the files", name, r,
						reflect.TypeFor[spec.Cluster]().Field(i).Name,
					)
				}
			}
		}
	}
}

// TestBothKeepsPods holds that nodes which begin, or end, to announce VIPs beside an election keep the
// pod of keepalived, and with it the VIPs, while kubelet reads its new files.
func TestBothKeepsPods(t *testing.T) {
	alone := compiled(t, func(c *spec.Cluster) { both(c); c.Routing = spec.Routing{} })
	for _, r := range []role.Role{role.Master, role.Worker} {
		before, after := mustAssets(t, alone, r).Files(), mustAssets(t, compiled(t, both), r).Files()
		for _, name := range []string{keepalived, "haproxy", "coredns"} {
			of := func(files []asset.File) []byte {
				i := slices.IndexFunc(files, func(f asset.File) bool { return f.Path == "/etc/kubernetes/manifests/"+name+".yaml" })
				if i < 0 {
					return nil
				}
				return files[i].Contents
			}
			if is, was := of(after), of(before); (name == keepalived && is == nil) || !bytes.Equal(is, was) {
				t.Errorf("%s of a %s is\n%s\nand was\n%s", name, r, is, was)
			}
		}
	}
}
