package plan

import (
	"encoding/json"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bmc"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/plan/bound"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/golden"
)

func addresses(texts ...string) []netip.Addr {
	var all []netip.Addr
	for _, s := range texts {
		all = append(all, netip.MustParseAddr(s))
	}
	return all
}

func networks(texts ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, s := range texts {
		all = append(all, netip.MustParsePrefix(s))
	}
	return all
}

// smallest is a cluster without any field that has a default.
func smallest() spec.Cluster {
	return spec.Cluster{
		Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal,
		MachineNetworks: networks("192.0.2.0/24"), APIVIPs: addresses("192.0.2.5"), IngressVIPs: addresses("192.0.2.6"),
	}
}

// fullest is a cluster with every field, IPv6 primary.
func fullest() spec.Cluster {
	return spec.Cluster{
		Name: "oc2-yw674", BaseDomain: "Lab.Example.COM.", Platform: spec.OpenStack, Topology: spec.HighlyAvailableArbiter, ControlPlaneReplicas: 2,
		MachineNetworks: networks("2001:db8::1/64", "192.0.2.7/24"),
		APIVIPs:         addresses("2001:db8::5", "192.0.2.5"), IngressVIPs: addresses("2001:db8::6", "192.0.2.6"), DNSVIP: netip.MustParseAddr("2001:db8::7"),
		LoadBalancer: spec.Managed, DNSRecords: spec.External,
		Images: map[string]string{"keepalivedImage": "registry.example.com/keepalived@sha256:4f881a1a3db524da61c27dd0708e61439261cc0a3ff518c017679853f91648c0", "corednsImage": "registry.example.com:5000/coredns:1.2"},
		Timing: "compat", VRRP: spec.Multicast, OnClash: clash.Refuse, VRIDs: map[string]uint8{"api": 9, "ingress": 10}, Ports: map[string]uint16{"lb": 9545, "lb-stats": 29545},
		Nodes: spec.Nodes{
			Namespace: "infra", Kubeconfig: "/etc/kubernetes/kubelet.conf", KubeletUnit: "k3s-agent.service", ControlPlaneLabel: "example.com/head",
			CertificateDirectories: []string{"/var/lib/k0s/pki", "/etc/kubernetes/pki"},
		},
	}
}

func mustCompile(t testing.TB, c spec.Cluster) Plan {
	t.Helper()
	p, err := Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func indented(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

func TestCompileSmallest(t *testing.T) { golden.Check(t, indented(t, mustCompile(t, smallest()))) }

// TestCompileCompat is the same cluster beside nodes of today's OpenShift.
func TestCompileCompat(t *testing.T) {
	c := smallest()
	c.Timing = vrrp.ProfileCompat
	golden.Check(t, indented(t, mustCompile(t, c)))
}

func TestCompileFullest(t *testing.T) { golden.Check(t, indented(t, mustCompile(t, fullest()))) }

// TestCompileNothing is a cluster without any address: what is empty is written as empty, so that a
// reader of JSON can always iterate.
func TestCompileNothing(t *testing.T) {
	p := mustCompile(t, spec.Cluster{Name: "a", BaseDomain: "b", Platform: spec.VSphere})
	for what, text := range map[string][]byte{"plan": indented(t, p), "cluster.json": Encode(p)} {
		if strings.Contains(string(text), "null") {
			t.Errorf("%s holds null:\n%s", what, text)
		}
	}
	if p.LoadBalancer != spec.UserManaged || p.Families != IPv4 || len(p.Records) != 0 || len(p.Timing.Bounds) != 0 {
		t.Errorf("load balancer %s, families %s, records %v, bounds %v", p.LoadBalancer, p.Families, p.Records, p.Timing.Bounds)
	}
}

// TestRouters_MakeWay chooses for one address the ID that another one has by default.
func TestRouters_MakeWay(t *testing.T) {
	c := smallest()
	c.DNSVIP = netip.MustParseAddr("192.0.2.7")
	for _, name := range []vrrp.Kind{vrrp.Ingress, vrrp.Provisioning} {
		c.VRIDs = map[string]uint8{string(name): uint8(vrrp.DNSID(c.Name))}
		if ids := routers(c); ids[vrrp.DNS] == ids[name] || ids[vrrp.DNS] == 0 {
			t.Errorf("%s and dns share virtual router ID %d", name, ids[name])
		}
	}
}

func TestCompileDefaults(t *testing.T) {
	tests := []struct {
		name   string
		change func(*spec.Cluster)
		get    func(Plan) any
		want   any
	}{
		{"timing of machines", func(*spec.Cluster) {}, func(p Plan) any { return p.Timing.Profile }, "lan"},
		{"timing of virtual machines", func(c *spec.Cluster) { c.Platform = spec.VSphere }, func(p Plan) any { return p.Timing.Profile }, "vm"},
		{"timing of who knows what", func(c *spec.Cluster) { c.Platform = "" }, func(p Plan) any { return p.Timing.Profile }, "vm"},
		{"timing that is set", func(c *spec.Cluster) { c.Timing = "compat" }, func(p Plan) any { return p.Timing.Model.Profile }, "compat"},
		{"3 replicas", func(c *spec.Cluster) { c.ControlPlaneReplicas = 3 }, func(p Plan) any { return p.Topology }, spec.HighlyAvailable},
		{"5 replicas", func(c *spec.Cluster) { c.ControlPlaneReplicas = 5 }, func(p Plan) any { return p.Topology }, spec.HighlyAvailable},
		{"2 replicas", func(c *spec.Cluster) { c.ControlPlaneReplicas = 2 }, func(p Plan) any { return p.Topology }, spec.DualReplica},
		{"1 replica", func(c *spec.Cluster) { c.ControlPlaneReplicas = 1 }, func(p Plan) any { return p.Topology }, spec.SingleReplica},
		{"2 replicas and an arbiter", func(c *spec.Cluster) { c.ControlPlaneReplicas, c.Topology = 2, spec.HighlyAvailableArbiter },
			func(p Plan) any { return p.Topology }, spec.HighlyAvailableArbiter},
		{"no platform", func(c *spec.Cluster) { c.Platform = "" }, func(p Plan) any { return p.Platform }, spec.None},
		{"user's balancer", func(c *spec.Cluster) { c.LoadBalancer = spec.UserManaged }, func(p Plan) any { return p.LoadBalancer }, spec.UserManaged},
		{"families of the networks", func(c *spec.Cluster) { c.MachineNetworks = networks("192.0.2.0/24", "2001:db8::/64") },
			func(p Plan) any { return p.Families }, DualStack},
		{"IPv6 network first", func(c *spec.Cluster) {
			c.MachineNetworks = networks("2001:db8::/64", "192.0.2.0/24")
			c.APIVIPs, c.IngressVIPs = addresses("2001:db8::5"), addresses("2001:db8::6")
		}, func(p Plan) any { return p.Families }, DualStackIPv6},
		{"two networks of one family", func(c *spec.Cluster) { c.MachineNetworks = networks("192.0.2.0/25", "192.0.2.128/25") },
			func(p Plan) any { return p.Families }, IPv4},
		{"families of the VIPs", func(c *spec.Cluster) {
			c.MachineNetworks, c.APIVIPs, c.IngressVIPs = nil, addresses("2001:db8::5", "192.0.2.5"), addresses("2001:db8::6")
		}, func(p Plan) any { return p.Families }, DualStackIPv6},
		{"the platform's order of the VIPs stays", func(c *spec.Cluster) {
			c.Platform, c.MachineNetworks = spec.Nutanix, networks("2001:db8::/64", "192.0.2.0/24")
			c.APIVIPs, c.IngressVIPs = addresses("192.0.2.5", "2001:db8::5"), addresses("192.0.2.6", "2001:db8::6")
		}, func(p Plan) any { return p.VIPs.API }, addresses("192.0.2.5", "2001:db8::5")},
		{"no election behind the user's own balancer", func(c *spec.Cluster) { c.LoadBalancer = spec.UserManaged },
			func(p Plan) any { return p.Timing.Bounds }, []bound.Bound{}},
		{"namespace", func(*spec.Cluster) {}, func(p Plan) any { return p.Namespace }, "openshift-kni-infra"},
		{"namespace elsewhere", func(c *spec.Cluster) { c.Platform = spec.VSphere }, func(p Plan) any { return p.Namespace }, "openshift-vsphere-infra"},
		{"namespace of any Kubernetes", func(c *spec.Cluster) { c.Platform = "" }, func(p Plan) any { return p.Namespace }, "onprem-infra"},
		{"label", func(*spec.Cluster) {}, func(p Plan) any { return p.ControlPlaneLabel }, "node-role.kubernetes.io/master"},
		{"label of any Kubernetes", func(c *spec.Cluster) { c.Platform = spec.None },
			func(p Plan) any { return p.ControlPlaneLabel }, "node-role.kubernetes.io/control-plane"},
		{"kubelet", func(*spec.Cluster) {}, func(p Plan) any { return p.Kubeconfig + " " + p.KubeletUnit },
			"/var/lib/kubelet/kubeconfig kubelet.service"},
		{"one VRID set", func(c *spec.Cluster) { c.VRIDs = map[string]uint8{"ingress": 200} },
			func(p Plan) any { return [2]vrrp.ID{p.VRRP.API.ID, p.VRRP.Ingress.ID} }, [2]vrrp.ID{14, 200}},
		{"the VRID of the DNS VIP makes way", func(c *spec.Cluster) {
			c.DNSVIP, c.VRIDs = netip.MustParseAddr("192.0.2.7"), map[string]uint8{"ingress": uint8(vrrp.DNSID(c.Name))}
		}, func(p Plan) any { return p.VRRP.DNS.ID }, vrrp.DNSID(smallest().Name) + 1},
		{"unless it is set", func(c *spec.Cluster) {
			c.DNSVIP, c.VRIDs = netip.MustParseAddr("192.0.2.7"), map[string]uint8{"dns": 77}
		}, func(p Plan) any { return [3]vrrp.ID{p.VRRP.API.ID, p.VRRP.Ingress.ID, p.VRRP.DNS.ID} }, [3]vrrp.ID{14, 93, 77}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := smallest()
			tt.change(&c)
			if got := tt.get(mustCompile(t, c)); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestCompileRejects(t *testing.T) {
	tests := []struct {
		name   string
		change func(*spec.Cluster)
		want   []string
	}{
		{"no name", func(c *spec.Cluster) { c.Name = "" }, []string{"spec.clusterDomain: is missing: give the cluster a name"}},
		{"name with a dot", func(c *spec.Cluster) { c.Name = "a.b" }, []string{`"a.b" has a dot in it`}},
		{"name in upper case", func(c *spec.Cluster) { c.Name = "Ostest" }, []string{`"Ostest" has upper-case letters`}},
		{"name with syntax", func(c *spec.Cluster) { c.Name = "a{b" }, []string{"is no DNS label"}},
		{"base domain", func(c *spec.Cluster) { c.BaseDomain = "example..com" }, []string{`spec.clusterDomain: "example..com" is no DNS name`}},
		{"long domain", func(c *spec.Cluster) { c.BaseDomain = strings.Repeat("a.", 124) + "b" }, []string{"spec.clusterDomain: *.apps.NAME.DOMAIN has"}},
		{"VRID hits the derived one", func(c *spec.Cluster) { c.VRIDs = map[string]uint8{"api": 93} }, []string{"spec.vrids.api: the API and ingress would both use virtual router ID 93"}},
		{"VRID 0", func(c *spec.Cluster) { c.VRIDs = map[string]uint8{"api": 0} }, []string{"spec.vrids.api: 0 is no virtual router ID"}},
		{"VRID of nothing", func(c *spec.Cluster) { c.VRIDs = map[string]uint8{"dns": 3} }, []string{"spec.vrids.dns: there is no virtual router of that name"}},
		{"VRID of the DNS VIP hits another", func(c *spec.Cluster) {
			c.DNSVIP, c.VRIDs = netip.MustParseAddr("192.0.2.7"), map[string]uint8{"dns": 93}
		}, []string{"spec.vrids.dns: virtual router ID 93 is that of ingress too"}},
		{"timing", func(c *spec.Cluster) { c.Timing = "quick" }, []string{`spec.timing: "quick" is not known: write one of fast, lan, vm, compat`}},
		{"mode", func(c *spec.Cluster) { c.VRRP = "broadcast" }, []string{`spec.vrrp: "broadcast" is not known`}},
		{"API VIP alone", func(c *spec.Cluster) { c.IngressVIPs = nil }, []string{"spec.ingressVIPs: no virtual IP is given for ingress"}},
		{"VIP with a zone", func(c *spec.Cluster) { c.APIVIPs = []netip.Addr{netip.MustParseAddr("fe80::5").WithZone("a\nb")} },
			[]string{`spec.apiVIPs[0]: "fe80::5%a\nb" has a zone`}},
		{"VIP that is none", func(c *spec.Cluster) { c.APIVIPs = make([]netip.Addr, 1) }, []string{"spec.apiVIPs[0]: "}},
		{"image", func(c *spec.Cluster) { c.Images = map[string]string{spec.CoreDNSImage: "a\nb", "other": "c"} },
			[]string{`spec.images.corednsImage: "a\nb" is no image reference`, "spec.images.other: there is no such field"}},
		{"balancer and records", func(c *spec.Cluster) { c.LoadBalancer, c.DNSRecords = "Mine", "\"" },
			[]string{`spec.loadBalancer: "Mine" is not known`, `spec.dnsRecords: "\"" is not known`}},
		{"nodes", func(c *spec.Cluster) {
			c.Nodes = spec.Nodes{Namespace: "A", Kubeconfig: "x", KubeletUnit: "kubelet", ControlPlaneLabel: "a/b/c"}
		}, []string{`spec.namespace: "A" is`, `spec.kubeconfig: "x" is`, `spec.kubeletUnit: "kubelet" is`, `spec.nodeLabels.controlPlane: "a/b/c" is`}},
		{"all at once", func(c *spec.Cluster) {
			c.Name, c.Timing, c.VRIDs, c.Ports = "X", "quick", map[string]uint8{"api": 0}, map[string]uint16{"lb": 6443}
		}, []string{"upper-case", "spec.timing: ", "spec.vrids.api: ", "6443 is the port of api too"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := smallest()
			tt.change(&c)
			p, err := Compile(c)
			if err == nil {
				t.Fatalf("compiled: %+v", p)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
		})
	}
}

// TestCompileProves holds that nothing is planned with a policy that could move the VIP from the
// bootstrap machine too early.
func TestCompileProves(t *testing.T) {
	policy := vrrp.Compat()
	policy.ControlPlane.Weights[2].Adds = 5
	_, err := compile(smallest(), vrrp.CompatTiming(), policy)
	if want := "40 + 20 (lb) + 5 (both) + 5 (mcs) = 70, bootstrap 70"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %q", err, want)
	}
}

// TestCompileChecksTimers holds that nothing is planned with timers that contradict each other;
// which do is decided in shared/vrrp/proof. K-48: a balancer that is slower than VRRP is refused here,
// not found out in a cluster.
func TestCompileChecksTimers(t *testing.T) {
	for _, timing := range vrrp.Profiles() {
		timing.Server.Inter = 2 * time.Second
		_, err := compile(smallest(), timing, timing.Policy())
		if want := "the balancer drops a server that hangs after 6.04s at the latest"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", timing.Profile, err, want)
		}
	}
}

// TestBounds holds what is promised of each profile against what is asked for: lan's figures, two
// and a half times as much under vm.
func TestBounds(t *testing.T) {
	for profile, factor := range map[string]float64{vrrp.ProfileLan: 1, vrrp.ProfileVM: 2.5} {
		c := fullest() // both families, each with its skew
		c.Timing = profile
		dark, ms := map[string]int{}, map[string]int{}
		for _, b := range mustCompile(t, c).Timing.Bounds {
			if _, twice := ms[b.Scenario]; twice || b.Scenario == "" || b.DarkMs > b.Ms {
				t.Errorf("%s: %+v", profile, b)
			}
			dark[b.Scenario], ms[b.Scenario] = b.DarkMs, b.Ms
		}
		for scenario, most := range map[string]int{
			"power-loss": 370, "vrrp-kill": 400, "graceful": 100, "lb-crash": 100, "api-crash": 0, "api-hang": 2000, "handover": 0, "reboot": 0, "cold-start": 3000, "node-down": 2850,
			"dns-power-loss": 370, "dns-graceful": 100, "name-server-crash": 1350, "dns-handover": 0,
		} {
			if got, ok := dark[scenario]; !ok || float64(got) > factor*float64(most) {
				t.Errorf("%s: %s is dark for %d ms (known: %t), want %d", profile, scenario, got, ok, most)
			}
		}
		if got := ms["handover"]; got > 5000 {
			t.Errorf("%s: the hand-over takes %d ms", profile, got)
		}
	}
}

// TestProbes holds that the plan describes the probe of every check of the policy: those of an
// OpenShift cluster, and of one whose nodes share a provisioning address.
func TestProbes(t *testing.T) {
	address, _ := bmc.Parse("ipmi://198.51.100.1") // it is one
	for _, timing := range vrrp.Profiles() {
		c := smallest()
		c.Timing, c.DNSVIP, c.TimingProof = timing.Profile, netip.MustParseAddr("192.0.2.7"), map[string]uint32{"a": 900, "b": 1100, "c": 2000}
		probes := mustCompile(t, c).Timing.Probes
		c.Distribution, c.Provisioning.Network = spec.Kubernetes, provisioning.Managed
		c.Hosts = []spec.Host{{Name: "m0", BootMACAddress: "52:54:00:00:00:01", BMC: machine.BMC{Address: address, Credentials: "/etc/bmc"}}}
		found := map[string]bound.Probe{}
		for _, l := range append(probes, mustCompile(t, c).Timing.Probes...) {
			found[l.What] = l
		}
		for name, p := range timing.Checks {
			if got := found[string(name)]; got.IntervalMs != int(p.Interval.Milliseconds()) || got.TimeoutMs != int(p.Timeout.Milliseconds()) || got.Fall != p.Fall || got.Rise != p.Rise {
				t.Errorf("%s: %s is %+v, want %+v", timing.Profile, name, got, p)
			}
		}
		if got := found["API server"]; got.IntervalMs != 220 || got.FastIntervalMs != 40 || got.DetectsMs != 700 {
			t.Errorf("%s: the balancer's probes are %+v", timing.Profile, got)
		}
	}
}

// TestCompileSharesNothing writes into every list and map of the input after Compile.
func TestCompileSharesNothing(t *testing.T) {
	c := fullest()
	p, want := mustCompile(t, c), mustCompile(t, fullest())
	c.MachineNetworks[0], c.APIVIPs[0], c.IngressVIPs[0] = netip.MustParsePrefix("198.51.100.0/24"), netip.Addr{}, netip.Addr{}
	c.Images["keepalivedImage"], c.VRIDs["api"], c.Ports["lb"] = "other", 77, 77
	if !reflect.DeepEqual(p, want) {
		t.Error("the plan changed with the input it was compiled from")
	}
}

func TestBootstrapRuns(t *testing.T) {
	tests := []struct {
		name     string
		platform spec.Platform
		balancer spec.LoadBalancer
		vips     []netip.Addr
		vip, dns bool
	}{
		{"baremetal", spec.BareMetal, spec.Managed, addresses("192.0.2.5"), true, true},
		{"vSphere", spec.VSphere, spec.Managed, addresses("192.0.2.5"), true, true},
		{"any Kubernetes", spec.None, "", addresses("192.0.2.5"), true, true},
		{"user's balancer", spec.Nutanix, spec.UserManaged, addresses("192.0.2.5"), false, true},
		{"user's balancer on vSphere", spec.VSphere, spec.UserManaged, addresses("192.0.2.5"), false, false},
		{"vSphere without VIPs", spec.VSphere, "", nil, false, false},
		{"Nutanix without VIPs", spec.Nutanix, spec.Managed, nil, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := smallest()
			if c.Platform, c.LoadBalancer, c.APIVIPs = tt.platform, tt.balancer, tt.vips; len(tt.vips) == 0 {
				c.IngressVIPs = nil
			}
			if vip, dns := mustCompile(t, c).BootstrapRuns(); vip != tt.vip || dns != tt.dns {
				t.Errorf("vip %v, dns %v; want %v, %v", vip, dns, tt.vip, tt.dns)
			}
		})
	}
}
