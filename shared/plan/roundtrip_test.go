package plan

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// reread is what a host makes of cluster.json.
func reread(t *testing.T, text []byte) Plan {
	t.Helper()
	cluster, findings := spec.Parse(Path, text, spec.Knobs{})
	if findings.HasErrors() {
		t.Fatalf("a host finds fault with cluster.json: %v\n%s", findings, text)
	}
	return mustCompile(t, cluster)
}

// TestRoundTrip holds that a host derives the plan that was compiled from the user's words,
// whatever these were.
func TestRoundTrip(t *testing.T) {
	for name, c := range inputs() {
		for _, vary := range knobsets() {
			c := c
			vary.set(&c)
			if c.Routing.Management == spec.ByVRRP && c.MigrateFrom.Management == "" {
				continue // a description by VRRP has routers for a migration alone
			}
			t.Run(name+" "+vary.name, func(t *testing.T) {
				if c.Routing.Management == spec.ByBGP {
					c.Timing, c.VRRP, c.VRIDs, c.MigrateFrom = "", "", nil, spec.Former{} // which only elections use
				}
				p := mustCompile(t, c)
				text := Encode(p)
				again := reread(t, text)
				if !reflect.DeepEqual(again, p) {
					t.Errorf("the host's plan:\n%s\nthe compiled one:\n%s", indented(t, again), indented(t, p))
				}
				if second := Encode(again); string(second) != string(text) {
					t.Errorf("cluster.json again:\n%s\nonce:\n%s", second, text)
				}
			})
		}
	}
}

func inputs() map[string]spec.Cluster {
	all := map[string]spec.Cluster{
		"fullest": fullest(),
		"routed":  announcing(spec.ByBGP),
		"routed, preferred, every field": func() spec.Cluster {
			c := announcing(spec.ByBGP)
			c.Routing.BGP.Mode, c.Routing.BGP.Timing, c.Routing.BGP.FabricDepth, c.Routing.BGP.Communities = "preferred", "vm", 2, []string{"64512:100"}
			c.Routing.BGP.Racks[0].Peers = append(c.Routing.BGP.Racks[0].Peers, routing.Peer{Interface: "eno1"}, routing.Peer{Address: netip.MustParseAddr("192.0.2.9"), ASN: 4200000000, Source: routing.Source{Prefix: netip.MustParsePrefix("192.0.2.8/32")}, Hops: 2, TTLSecurity: true},
				routing.Peer{Address: netip.MustParseAddr("192.0.2.10"), Source: routing.Source{Prefix: netip.MustParsePrefix("192.0.2.0/25")}})
			c.Routing.BGP.Racks = append(c.Routing.BGP.Racks, routing.Rack{Name: "b", Timers: routing.Timers{Hold: 30 * time.Second, Keepalive: 5 * time.Second, Interval: routing.Off}},
				routing.Rack{Name: "c", Timers: routing.Timers{Timing: "lan", Interval: 150 * time.Millisecond, Multiplier: 4}})
			return c
		}(),
		"to both": func() spec.Cluster {
			c := announcing(spec.ByBoth)
			c.MigrateFrom.Management = spec.ByVRRP
			return c
		}(),
		"back from both": func() spec.Cluster {
			c := announcing(spec.ByVRRP)
			c.MigrateFrom.Management = spec.ByBoth
			return c
		}(),
		"vSphere UPI":     {Name: "a", BaseDomain: "b", Platform: spec.VSphere},
		"vSphere network": {Name: "a", BaseDomain: "b", Platform: spec.VSphere, MachineNetworks: networks("192.0.2.0/24")},
	}
	for _, platform := range []spec.Platform{spec.BareMetal, spec.OpenStack, spec.OVirt, spec.VSphere, spec.Nutanix, spec.None} {
		for family, change := range map[string]func(*spec.Cluster){
			"IPv4": func(*spec.Cluster) {},
			"IPv6": func(c *spec.Cluster) {
				c.MachineNetworks, c.APIVIPs, c.IngressVIPs = networks("2001:db8::/64"), addresses("2001:db8::5"), addresses("2001:db8::6")
			},
			"dual": func(c *spec.Cluster) {
				c.MachineNetworks = networks("192.0.2.0/24", "2001:db8::/64")
				c.APIVIPs, c.IngressVIPs = addresses("192.0.2.5", "2001:db8::5"), addresses("192.0.2.6", "2001:db8::6")
			},
			"dual, IPv6 primary": func(c *spec.Cluster) {
				c.MachineNetworks = networks("2001:db8::/64", "192.0.2.0/24")
				c.APIVIPs, c.IngressVIPs = addresses("2001:db8::5", "192.0.2.5"), addresses("2001:db8::6", "192.0.2.6")
				if c.Platform == spec.Nutanix || c.Platform == spec.OVirt { // spec delivers theirs so
					slices.Reverse(c.APIVIPs)
					slices.Reverse(c.IngressVIPs)
				}
			},
			"user's balancer": func(c *spec.Cluster) {
				c.LoadBalancer, c.IngressVIPs = spec.UserManaged, c.APIVIPs
			},
			"two nodes": func(c *spec.Cluster) { c.ControlPlaneReplicas = 2 },
		} {
			c := smallest()
			c.Platform = platform
			change(&c)
			all[fmt.Sprintf("%s %s", platform, family)] = c
		}
	}
	return all
}

type knobset struct {
	name string
	set  func(*spec.Cluster)
}

func knobsets() []knobset {
	return []knobset{
		{"as it is", func(*spec.Cluster) {}},
		{"unicast set", func(c *spec.Cluster) { c.VRRP, c.Timing = spec.Unicast, "compat" }},
		{"lan", func(c *spec.Cluster) { c.Timing = vrrp.ProfileLan }},
		{"vm", func(c *spec.Cluster) { c.Timing = vrrp.ProfileVM }},
		{"migrating", func(c *spec.Cluster) {
			c.Timing, c.VRRP, c.MigrateFrom = vrrp.ProfileLan, spec.Unicast, spec.Former{Timing: vrrp.ProfileCompat, VRRP: spec.Multicast}
		}},
		{"multicast", func(c *spec.Cluster) { c.VRRP = spec.Multicast }},
		{"metrics", func(c *spec.Cluster) { c.Metrics = spec.MetricsNode }},
		{"metrics nowhere, set", func(c *spec.Cluster) { c.Metrics = spec.MetricsLocalhost }},
		{"multicast DNS", func(c *spec.Cluster) { c.MDNS = spec.MDNSEnabled }},
		{"no multicast DNS, set", func(c *spec.Cluster) { c.MDNS = spec.MDNSDisabled }},
		{"one VRID", func(c *spec.Cluster) { c.VRIDs = map[string]uint8{"api": 200} }},
		{"the VRID of a DNS VIP", func(c *spec.Cluster) {
			for _, vip := range c.APIVIPs {
				if vip.Is4() == c.MachineNetworks[0].Addr().Is4() {
					c.DNSVIP, c.VRIDs = vip.Next().Next(), map[string]uint8{"dns": 200}
				}
			}
		}},
		{"OpenShift set", func(c *spec.Cluster) { c.Distribution = spec.OpenShift }},
		{"any Kubernetes", func(c *spec.Cluster) { c.Distribution = spec.Kubernetes }},
		{"any Kubernetes, elsewhere", func(c *spec.Cluster) {
			c.Distribution, c.Nodes = spec.Kubernetes, spec.Nodes{Namespace: "infra", Kubeconfig: "/a/b/c", KubeletUnit: "k3s.service", ControlPlaneLabel: "a/b"}
		}},
		{"certificates elsewhere", func(c *spec.Cluster) {
			c.Nodes = spec.Nodes{Kubeconfig: "/a/b/c", CertificateDirectories: []string{"/var/lib/k0s/pki", "/etc/kubernetes/pki"}}
		}},
		{"ports and images", func(c *spec.Cluster) {
			c.Ports = map[string]uint16{"lb": 9444, "lb-ready": 9445, "api": 6444}
			c.Images = map[string]string{spec.KeepalivedImage: "localhost/keepalived:1"}
		}},
	}
}

// K-04: once a master and a worker of one cluster used different numbers, because each took the
// name from elsewhere. Every role reads cluster.json; this holds that whatever the name, it says
// there what was said to the compiler.
func TestRolesAgreeOnIdentity(t *testing.T) {
	const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789"
	for length := 1; length <= 63; length++ {
		for _, hyphens := range []bool{false, true} {
			var name strings.Builder
			for i := range length {
				if hyphens && i%3 == 1 && i < length-1 {
					name.WriteByte('-')
					continue
				}
				name.WriteByte(alphabet[(length*7+i*5)%len(alphabet)])
			}
			c := smallest()
			c.Name = name.String()
			p := mustCompile(t, c)
			host := reread(t, Encode(p))
			if !reflect.DeepEqual(host.VRRP, p.VRRP) || host.Cluster != p.Cluster {
				t.Errorf("%q: the host has %+v %+v, the compiler %+v %+v", c.Name, host.Cluster, host.VRRP, p.Cluster, p.VRRP)
			}
			api, ingress, err := vrrp.IDs(c.Name)
			if err != nil || p.VRRP.API.ID != api || p.VRRP.Ingress.ID != ingress {
				t.Errorf("%q: planned IDs %d and %d, its name's are %d and %d, %v", c.Name, p.VRRP.API.ID, p.VRRP.Ingress.ID, api, ingress, err)
			}
		}
	}
}

// FuzzAccepted holds that what is accepted from a user compiles, and reads the same on a host.
func FuzzAccepted(f *testing.F) {
	for _, c := range inputs() {
		if p, err := Compile(c); err == nil {
			f.Add(string(Encode(p)))
		}
	}
	for _, distribution := range []spec.Distribution{spec.Kubernetes, spec.OpenShift} {
		c := smallest()
		c.Distribution = distribution
		f.Add(string(Encode(mustCompile(f, c))))
	}
	f.Add(`{"apiVersion": "v1", "metadata": {"name": "a"}, "baseDomain": "b.C.", "platform": {"nutanix": {"apiVIPs": ["2001:db8::5", "192.0.2.5"],
		"ingressVIPs": ["2001:db8::6", "192.0.2.6"]}}, "networking": {"machineNetwork": [{"cidr": "2001:db8::/64"}, {"cidr": "192.0.2.0/24"}]}}`)
	f.Add("apiVersion: v1\nbaseDomain: b\nmetadata:\n  name: a\ncontrolPlane:\n  replicas: 1\nplatform:\n  vsphere: {}\n")
	f.Fuzz(func(t *testing.T, text string) {
		cluster, findings := spec.Parse("input", []byte(text), spec.Knobs{})
		if findings.HasErrors() {
			return
		}
		p := mustCompile(t, cluster)
		if host := reread(t, Encode(p)); !reflect.DeepEqual(host, p) {
			t.Errorf("the host's plan:\n%s\nthe compiled one:\n%s", indented(t, host), indented(t, p))
		}
	})
}
