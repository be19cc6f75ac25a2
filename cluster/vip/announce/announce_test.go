package announce

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/cluster/vip/absent"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/announcing"
	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

func ip(text string) netip.Addr { return netip.MustParseAddr(text) }

func ips(text string) (out []netip.Addr) {
	for _, w := range strings.Fields(text) {
		out = append(out, ip(w))
	}
	return out
}

// cluster is one of two racks, whose VIPs are in no host's network.
func cluster() spec.Cluster {
	return spec.Cluster{
		Name: "prod", BaseDomain: "example.com", Platform: spec.BareMetal, ControlPlaneReplicas: 3,
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("10.1.1.0/24"), netip.MustParsePrefix("10.1.2.0/24")},
		APIVIPs:         ips("198.51.100.5"), IngressVIPs: ips("198.51.100.6"), DNSVIP: ip("198.51.100.7"),
		Routing: spec.Routing{Management: spec.ByBGP, BGP: routing.BGPSettings{ASN: 64512, Communities: []string{"64512:100"}, Racks: []routing.Rack{
			{Network: netip.MustParsePrefix("10.1.1.0/24"), Peers: []routing.Peer{{Address: ip("10.1.1.1"), ASN: 65101}, {Address: ip("10.1.1.2"), ASN: 65102, TTLSecurity: true}}},
			{Network: netip.MustParsePrefix("10.1.2.0/24"), Name: "b", Peers: []routing.Peer{{Address: ip("10.1.2.1"), Source: routing.Source{Prefix: netip.MustParsePrefix("10.1.2.200/32")}, Hops: 2}}},
		}}},
	}
}

func compile(t *testing.T, change func(*spec.Cluster)) plan.Plan {
	t.Helper()
	c := cluster()
	if change != nil {
		change(&c)
	}
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// host has addresses on eth0, and VIPs on lo.
func host(addresses string, vips ...string) addr.Snapshot {
	s := addr.Snapshot{Links: []addr.Link{{Index: 1, Name: "lo", Up: true}, {Index: 2, Name: "eth0", Up: true}}}
	for _, w := range strings.Fields(addresses) {
		s.Links[1].Addresses = append(s.Links[1].Addresses, addr.Address{Prefix: netip.MustParsePrefix(w)})
	}
	for _, w := range append(vips, "127.0.0.1/8") {
		s.Links[0].Addresses = append(s.Links[0].Addresses, addr.Address{Prefix: netip.MustParsePrefix(w)})
	}
	return s
}

// all are the checks of a node on which everything works, but for some.
func all(but ...vrrp.CheckName) func(vrrp.CheckName) bool {
	return func(name vrrp.CheckName) bool { return !slices.Contains(but, name) }
}

// grades are routes by the last number of their VIPs: b for one behind a holder, e for one that ends after the others, l for one that the node
// leaves.
func grades(routes []spoken.Route) string {
	var words []string
	for _, r := range routes {
		four := r.VIP.As4()
		word := fmt.Sprintf("%d:%d", four[3], r.Grade)
		if r.Behind {
			word += "b"
		}
		if r.Ends {
			word += "e"
		}
		if r.Leaves {
			word += "l"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// TestRoutes holds what a node announces by what serves on it, and how good it says that it is.
func TestRoutes(t *testing.T) {
	preferred := func(c *spec.Cluster) { c.Routing.BGP.Mode = routing.Preferred }
	both := func(c *spec.Cluster) {
		c.Routing.Management = spec.ByBoth
		c.APIVIPs, c.IngressVIPs, c.DNSVIP = ips("10.1.1.5"), ips("10.1.1.6"), ip("10.1.1.7")
	}
	kubernetes := func(c *spec.Cluster) { c.Distribution = spec.Kubernetes }
	open := Seen{Open: true, Rank: -1}
	ranked := func(rank int) Seen { return Seen{Open: true, Rank: rank} }
	holder := func(names ...string) Seen {
		s := Seen{Open: true, Rank: -1, Status: supervised.Status{PID: 7, Instances: map[string]supervised.Instance{}}}
		for _, n := range names {
			s.Status.Instances[n] = supervised.Instance{State: supervised.Master}
		}
		return s
	}
	dead := holder("prod_API_0")
	dead.Status.PID = 0
	back := holder("prod_API_0")
	back.Waits = true
	kept := holder("prod_API_0")
	kept.Apart = true
	for _, tt := range []struct {
		name   string
		change func(*spec.Cluster)
		role   role.Role
		seen   Seen
		passes func(vrrp.CheckName) bool
		want   string
	}{
		{name: "all serve", role: role.Master, seen: open, passes: all(), want: "5:4 7:4 6:0"},
		{name: "the gate is shut", role: role.Master, seen: Seen{Rank: -1}, passes: all(), want: "7:4 6:0"},
		{name: "no balancer", role: role.Master, seen: open, passes: all(vrrp.CheckLB), want: "5:5 7:4 6:0"},
		{name: "no balancer and no API server", role: role.Master, seen: open, passes: all(vrrp.CheckLB, vrrp.CheckBoth), want: "7:4 6:0"},
		{name: "no name server", role: role.Master, seen: open, passes: all(vrrp.CheckDNS), want: "5:4 6:0"},
		{name: "no router", role: role.Master, seen: open, passes: all(vrrp.CheckIngress), want: "5:4 7:4"},
		{name: "a router that ends", role: role.Master, seen: open, passes: all(vrrp.CheckIngressReady), want: "5:4 7:4 6:1"},
		{name: "not the default router", role: role.Master, seen: open, passes: all(vrrp.CheckDefaultIngress), want: "5:4 7:4 6:4"},
		{name: "not the default router, and it ends", role: role.Master, seen: open, passes: all(vrrp.CheckDefaultIngress, vrrp.CheckIngressReady), want: "5:4 7:4 6:5"},
		{name: "Kubernetes has no default router", change: kubernetes, role: role.Master, seen: open, passes: all(vrrp.CheckDefaultIngress, vrrp.CheckIngressReady), want: "5:4 7:4 6:0"},
		{name: "a worker", role: role.Worker, seen: Seen{Rank: -1}, passes: all(), want: "6:0"},
		{name: "a worker without a router", role: role.Worker, seen: open, passes: all(vrrp.CheckIngress)},
		{name: "nothing serves", role: role.Master, seen: open, passes: func(vrrp.CheckName) bool { return false }},
		{name: "the best rank", change: preferred, role: role.Master, seen: ranked(0), passes: all(vrrp.CheckIngress), want: "5:4 7:4"},
		{name: "the second rank", change: preferred, role: role.Master, seen: ranked(1), passes: all(vrrp.CheckIngress), want: "5:8 7:8"},
		{name: "no rank yet", change: preferred, role: role.Master, seen: open, passes: all(vrrp.CheckIngress, vrrp.CheckLB), want: "5:13 7:12"},
		{name: "the holder by VRRP", change: both, role: role.Master, seen: holder("prod_API_0", "prod_INGRESS_0"), passes: all(), want: "5:4 7:8b 6:0"},
		{name: "the holder by VRRP does not serve", change: both, role: role.Master, seen: holder("prod_API_0"), passes: all(vrrp.CheckLB, vrrp.CheckBoth), want: "7:8b 6:4b"},
		{name: "no holder by VRRP", change: both, role: role.Master, seen: open, passes: all(vrrp.CheckDefaultIngress), want: "5:8b 7:8b 6:8b"},
		{name: "its keepalived is dead", change: both, role: role.Master, seen: dead, passes: all(), want: "5:8b 7:8b 6:4b"},
		{name: "the migration has not happened", change: both, role: role.Master, seen: Seen{Open: true, Waits: true}, passes: all(), want: ""},
		{name: "the holder, while all go back to VRRP alone", change: both, role: role.Master, seen: back, passes: all(), want: "5:4e"},
		{name: "VIPs are kept away", role: role.Master, seen: Seen{Open: true, Rank: -1, Apart: true}, passes: all(vrrp.CheckDNS), want: "5:4l 6:0l"},
		{name: "VIPs are kept away from the holder", change: both, role: role.Master, seen: kept, passes: all(), want: "5:4l 7:8bl 6:4bl"},
		{name: "VIPs are kept away from a worker that serves none", role: role.Worker, seen: Seen{Apart: true}, passes: all(vrrp.CheckIngress), want: ""},
		{name: "the holder, while all end BGP alone", role: role.Master, seen: back, passes: all(), want: ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := compile(t, tt.change)
			tt.seen.Links = host("10.1.1.10/24")
			d := Decide(p, tt.role, tt.seen, Local{Passes: tt.passes})
			if got := grades(d.Routes); got != tt.want {
				t.Errorf("%q, want %q: %s", got, tt.want, d.Why)
			}
			for _, vip := range announcing.VIPs(p, tt.role) {
				announced := slices.ContainsFunc(d.Routes, func(r spoken.Route) bool { return r.VIP == vip && !r.Ends && !r.Leaves })
				why := slices.ContainsFunc(d.Absent, func(a absent.VIP) bool {
					return a.VIP == vip && a.Why != "" && (!tt.seen.Apart || strings.Contains(a.Why, "node-restriction.kubernetes.io/no-vip"))
				})
				if announced == why {
					t.Errorf("%s is announced: %v, and has a reason against it: %v", vip, announced, why)
				}
			}
			for _, r := range d.Routes {
				last := r.Demotions[len(r.Demotions)-1]
				if last > p.BGP.Grades.Leaving || slices.ContainsFunc(r.Demotions, func(g bgp.Grade) bool { return g <= r.Grade }) {
					t.Errorf("%s: %+v, and routers are told of %d at most", r.VIP, r, p.BGP.Grades.Leaving)
				}
			}
		})
	}
}

// TestSpread holds that nodes without a claimed rank are spread by their addresses over all ranks.
func TestSpread(t *testing.T) {
	p := compile(t, func(c *spec.Cluster) { c.Routing.BGP.Mode = routing.Preferred })
	got := map[bgp.Grade]int{}
	for i := range 60 {
		d := Decide(p, role.Worker, Seen{Links: host(fmt.Sprintf("10.1.1.%d/24", 10+i)), Agreed: ips(fmt.Sprintf("10.1.1.%d", 10+i)), Rank: -1}, Local{Passes: all()})
		got[d.Routes[0].Grade]++
	}
	if len(got) != 3 || got[0] < 10 || got[4] < 10 || got[8] < 10 {
		t.Errorf("%v", got)
	}
}

// TestReach holds how the node's rack is known, and that its routers stay while it is not: the file
// comes before the label, and a VIP on lo is no address of the node.
func TestReach(t *testing.T) {
	for _, tt := range []struct {
		name, addresses, file, label, first, wrong string
	}{
		{name: "by an address", addresses: "10.1.2.10/24", first: "10.1.2.1"},
		{name: "by the file", addresses: "10.1.1.10/24", file: "b", label: "a", first: "10.1.2.1"},
		{name: "by the label", addresses: "10.1.1.10/24", label: "b", first: "10.1.2.1"},
		{name: "of no rack", addresses: "10.1.3.10/24", wrong: "no rack of bgp.racks"},
		{name: "of a rack that is not there", addresses: "10.1.1.10/24", file: "c", wrong: `"c"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := compile(t, nil)
			d := Decide(p, role.Master, Seen{Links: host(tt.addresses, "198.51.100.5/32"), Open: true, Label: tt.label}, Local{Rack: tt.file, Passes: all()})
			switch {
			case tt.wrong == "" && (d.Config == nil || d.Config.Peers[0].Address != ip(tt.first) || d.Config.Router == p.VIPs.API[0] || len(d.Absent) > 0):
				t.Errorf("%+v", d)
			case tt.wrong != "" && (d.Config != nil || len(d.Absent) != len(p.VIPs.All()) || !strings.Contains(d.Absent[0].Why, tt.wrong) || len(d.Routes) != 3):
				t.Errorf("%+v", d)
			}
		})
	}
	d := Decide(compile(t, nil), role.Master, Seen{Links: host("10.1.1.10/24 10.1.1.9/24")}, Local{Former: ip("10.1.1.10"), Passes: all()})
	if d.Config == nil || d.Config.Router != ip("10.1.1.10") {
		t.Errorf("another identifier: %+v", d.Config)
	}
}

// TestWorkerVIPs holds that routers take nothing from a worker but what it may announce.
func TestWorkerVIPs(t *testing.T) {
	d := Decide(compile(t, nil), role.Worker, Seen{Links: host("10.1.1.10/24")}, Local{Passes: all()})
	if d.Config == nil || !slices.Equal(d.Config.VIPs, ips("198.51.100.6")) {
		t.Errorf("%+v", d.Config)
	}
}
