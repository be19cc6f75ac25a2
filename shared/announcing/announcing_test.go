package announcing_test

import (
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/announcing"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

var (
	ip     = netip.MustParseAddr
	prefix = netip.MustParsePrefix
)

// compile is a plan with two racks: one with routers, and one without.
func compile(t *testing.T, change func(*spec.Cluster)) plan.Plan {
	t.Helper()
	c := spec.Cluster{
		Name: "prod", BaseDomain: "example.com", Platform: spec.BareMetal, ControlPlaneReplicas: 3,
		MachineNetworks: []netip.Prefix{prefix("10.1.1.0/24"), prefix("10.1.2.0/24"), prefix("fd00:3::/64")},
		APIVIPs:         []netip.Addr{ip("198.51.100.5")}, IngressVIPs: []netip.Addr{ip("198.51.100.6")},
	}
	c.Routing = spec.Routing{Management: routing.BGP, BGP: routing.BGPSettings{ASN: 64512, Communities: []string{"64512:100"}, Racks: []routing.Rack{
		{Network: prefix("10.1.1.0/24"), Peers: []routing.Peer{{Address: ip("10.1.1.1"), ASN: 65101}, {Address: ip("10.1.1.2"), TTLSecurity: true}}},
		{Network: prefix("10.1.2.0/24")},
		{Network: prefix("fd00:3::/64")},
		{Name: "edge", Peers: []routing.Peer{{Interface: "uplink"}}},
	}}}
	if change != nil {
		change(&c)
	}
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func links(addresses ...string) addr.Snapshot {
	s := addr.Snapshot{Links: []addr.Link{{Index: 1, Name: "lo", Up: true, Addresses: []addr.Address{{Prefix: prefix("127.0.0.1/8")}, {Prefix: prefix("::1/128")}}}}}
	l := addr.Link{Index: 2, Name: "uplink", Up: true}
	for _, a := range addresses {
		l.Addresses = append(l.Addresses, addr.Address{Prefix: prefix(a)})
	}
	s.Links = append(s.Links, l)
	return s
}

func via(s addr.Snapshot, metric int, gateways ...string) addr.Snapshot {
	for _, g := range gateways {
		to := "0.0.0.0/0"
		if ip(g).Is6() {
			to = "::/0"
		}
		s.Routes = append(s.Routes, addr.Route{LinkIndex: 2, Destination: prefix(to), Gateway: ip(g), Metric: metric})
	}
	return s
}

// TestConfig holds which routers a host has sessions with, and by what it is known to them.
func TestConfig(t *testing.T) {
	dual := func(c *spec.Cluster) {
		c.Routing.BGP.Racks[0].Peers = append(c.Routing.BGP.Racks[0].Peers, routing.Peer{Interface: "uplink"})
		c.APIVIPs, c.IngressVIPs = append(c.APIVIPs, ip("2001:db8:f::5")), append(c.IngressVIPs, ip("2001:db8:f::6"))
	}
	ended := func(c *spec.Cluster) {
		c.Routing.BGP.Racks[0].Peers[0].Source.Prefix = prefix("10.9.0.0/24")
		c.APIVIPs = []netip.Addr{ip("10.9.0.5")} // a VIP is no host's end
	}
	leaves := []spoken.Peer{{Address: ip("10.1.1.1"), ASN: 65101}, {Address: ip("10.1.1.2"), TTLSecurity: true}}
	for _, tt := range []struct {
		name   string
		change func(*spec.Cluster)
		host   announcing.Host
		peers  []spoken.Peer
		router string
		why    string // or the error
	}{
		{"its rack's routers", nil, announcing.Host{Links: links("10.1.1.10/24")}, leaves, "10.1.1.10", "rack 10.1.1.0/24: its routers 10.1.1.1 (AS 65101), 10.1.1.2; identifier 10.1.1.10, of"},
		{"the lowest address", nil, announcing.Host{Links: links("10.1.1.20/24", "10.1.1.9/24", "192.0.2.1/24")}, leaves, "10.1.1.9", ""},
		{"an identifier stays", nil, announcing.Host{Former: ip("10.1.1.20"), Links: links("10.1.1.9/24", "10.1.1.20/24")}, leaves, "10.1.1.20", ""},
		{"unless its address is gone", nil, announcing.Host{Former: ip("10.1.1.21"), Links: links("10.1.1.9/24")}, leaves, "10.1.1.9", ""},
		{"a VIP is nobody's address", nil, announcing.Host{Links: links("10.1.1.10/24", "198.51.100.5/32")}, leaves, "10.1.1.10", ""},
		{"gateways", nil, announcing.Host{Links: via(via(links("10.1.2.10/24"), 200, "10.1.2.9"), 100, "10.1.2.2", "10.1.2.1")}, []spoken.Peer{{Address: ip("10.1.2.1")}, {Address: ip("10.1.2.2")}}, "10.1.2.10", "the gateways of its default routes 10.1.2.1, 10.1.2.2"},
		{"gateways of both families", dual, announcing.Host{Links: via(links("10.1.2.10/24"), 100, "fe80::1", "10.1.2.1")}, []spoken.Peer{{Address: ip("10.1.2.1")}, {Interface: "uplink"}}, "10.1.2.10", ""},
		{"a gateway without an address carries IPv4", nil, announcing.Host{Links: via(links("10.1.2.10/24"), 100, "fe80::1")}, []spoken.Peer{{Interface: "uplink"}}, "10.1.2.10", ""},
		{"no need of a second family", nil, announcing.Host{Links: via(links("10.1.2.10/24"), 100, "fe80::1", "10.1.2.1")}, []spoken.Peer{{Address: ip("10.1.2.1")}}, "10.1.2.10", ""},
		{"a family that no session carries", dual, announcing.Host{Links: via(links("10.1.2.10/24"), 100, "10.1.2.1")}, []spoken.Peer{{Address: ip("10.1.2.1")}}, "10.1.2.10", "no session carries 2001:db8:f::5: name"},
		{"IPv6 alone", nil, announcing.Host{Links: via(links("fd00:3::10/64"), 100, "fe80::1")}, []spoken.Peer{{Interface: "uplink"}}, "41.64.25.113", "of the address fd00:3::10"},
		{"IPv4 before a number", nil, announcing.Host{Links: via(links("fd00:3::10/64", "10.1.2.7/24"), 100, "fe80::1"), Rack: "edge"}, []spoken.Peer{{Interface: "uplink"}}, "10.1.2.7", ""},
		{"a rack by its name, outside of all networks", nil, announcing.Host{Rack: "edge", Links: links("192.0.2.7/24")}, []spoken.Peer{{Interface: "uplink"}}, "192.0.2.7", "rack edge"},
		{"its own end in a network", ended, announcing.Host{Links: links("10.1.1.10/24", "10.9.0.10/24", "10.9.0.5/24")}, []spoken.Peer{{Address: ip("10.1.1.1"), ASN: 65101, Source: ip("10.9.0.10")}, leaves[1]}, "10.1.1.10", ""},
		{"no address in that network", ended, announcing.Host{Links: links("10.1.1.10/24")}, leaves[1:], "10.1.1.10", "; no session with 10.1.1.1: give this host an address in 10.9.0.0/24"},
		{"its own end by address", func(c *spec.Cluster) {
			c.Routing.BGP.Racks[0].Peers[0].Source.Prefix = prefix("10.9.0.7/32")
		}, announcing.Host{Links: links("10.1.1.10/24")}, []spoken.Peer{{Address: ip("10.1.1.1"), ASN: 65101, Source: ip("10.9.0.7")}, leaves[1]}, "10.1.1.10", ""},
		{"no address for any router", func(c *spec.Cluster) {
			ended(c)
			c.Routing.BGP.Racks[0].Peers = c.Routing.BGP.Racks[0].Peers[:1]
		}, announcing.Host{Links: links("10.1.1.10/24")}, nil, "", "rack 10.1.1.0/24; no session with 10.1.1.1"},
		{"no such name", nil, announcing.Host{Rack: "hall", Links: links("10.1.1.10/24")}, nil, "", `named "hall"`},
		{"no rack", nil, announcing.Host{Links: links("192.0.2.7/24")}, nil, "", "[192.0.2.7]"},
		{"no router", nil, announcing.Host{Links: links("10.1.2.10/24")}, nil, "", "rack 10.1.2.0/24 names no peers"},
		{"no address", nil, announcing.Host{Rack: "edge", Links: links("fe80::7/64")}, nil, "", "no address to be known by"},
	} {
		p := compile(t, tt.change)
		tt.host.Role = role.Master
		c, why, err := announcing.Config(p, tt.host)
		if (err == nil) != (tt.router != "") || err != nil && !strings.Contains(err.Error(), tt.why) || err == nil && !strings.Contains(why, tt.why) {
			t.Errorf("%s: %q, %v", tt.name, why, err)
		}
		if err != nil {
			continue
		}
		if !reflect.DeepEqual(c.Peers, tt.peers) || c.Router != ip(tt.router) || c.ASN != 64512 || c.Timing != p.BGP.Model || len(c.Communities) != 1 {
			t.Errorf("%s: %+v", tt.name, c)
		}
	}
}

// TestConfig_Links holds on which links a host does not answer for VIPs: those of a network in which one is, also
// without elections, as every host that serves it has it.
func TestConfig_Links(t *testing.T) {
	p := compile(t, nil)
	for name, tt := range map[string]struct {
		addresses []string
		want      []string
	}{
		"in a network of hosts": {[]string{"10.1.1.10/24", "198.51.100.9/24"}, []string{"uplink"}},
		"in none":               {[]string{"10.1.1.10/24", "198.51.100.5/32"}, nil},
	} {
		for _, management := range []spec.Management{routing.BGP, routing.Both} {
			p.Management = management
			if c, _, err := announcing.Config(p, announcing.Host{Role: role.Master, Links: links(tt.addresses...)}); err != nil || !slices.Equal(c.Links, tt.want) {
				t.Errorf("%s, %s: %q, %v, want %q", name, management, c.Links, err, tt.want)
			}
		}
	}
}

// TestConfig_Moving holds that no address which moves between nodes identifies a host: the end of
// one at a host would end all its sessions.
func TestConfig_Moving(t *testing.T) {
	s := links("10.1.1.2/32", "10.1.1.3/24", "10.1.1.10/24")
	s.Links[1].Addresses[0].Label = "br-ex:eip"
	s.Links[1].Addresses[1].Deprecated = true
	if c, _, err := announcing.Config(compile(t, nil), announcing.Host{Role: role.Master, Links: s}); err != nil || c.Router != ip("10.1.1.10") {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestConfig_Shuffled holds that the order of addresses changes nothing: another identifier would end all
// sessions.
func TestConfig_Shuffled(t *testing.T) {
	p := compile(t, nil)
	one, _, err1 := announcing.Config(p, announcing.Host{Links: via(links("10.1.2.9/24", "10.1.2.10/24", "fd00:3::10/64"), 1, "10.1.2.1", "10.1.2.2")})
	two, _, err2 := announcing.Config(p, announcing.Host{Links: via(links("fd00:3::10/64", "10.1.2.10/24", "10.1.2.9/24"), 1, "10.1.2.2", "10.1.2.1")})
	if err1 != nil || err2 != nil || !reflect.DeepEqual(one, two) {
		t.Errorf("%v %v\n%+v\n%+v", err1, err2, one, two)
	}
}

// TestVIPs holds what a host of each role may announce.
func TestVIPs(t *testing.T) {
	p := compile(t, func(c *spec.Cluster) { c.DNSVIP = ip("198.51.100.4") })
	for r, want := range map[role.Role][]netip.Addr{
		role.Bootstrap: {ip("198.51.100.4"), ip("198.51.100.5")},
		role.Master:    {ip("198.51.100.4"), ip("198.51.100.5"), ip("198.51.100.6")},
		role.Worker:    {ip("198.51.100.6")},
	} {
		if got := announcing.VIPs(p, r); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", r, got, want)
		}
	}
}

// TestRoutes holds by which grades a bootstrap machine leaves behind a spine.
func TestRoutes(t *testing.T) {
	p := compile(t, nil)
	got := announcing.Routes(p, p.BGP.Policy.OfBootstrap(false), p.VIPs.API)
	if want := []spoken.Route{{VIP: ip("198.51.100.5"), Grade: 0, Demotions: p.BGP.Policy.Demotions(0)}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
