package doctor

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/announcing"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// racked has a fabric of racks 10.1.0.0/24, 10.1.1.0/24 and so on with so many routers each, and so many
// control plane nodes, m1 the first one.
func racked(f *facts.Facts, mode string, routers, masters []int) {
	c := spec.Cluster{Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal, ControlPlaneReplicas: 3, APIVIPs: []netip.Addr{announcedVIP}, IngressVIPs: ips("203.0.113.6"),
		Routing: spec.Routing{Management: routing.BGP, BGP: routing.BGPSettings{ASN: 64512, Mode: mode}}}
	f.Network.Members, f.Daemons.Servers = nil, nil
	for r, n := range routers {
		rack := routing.Rack{Network: netip.MustParsePrefix(fmt.Sprintf("10.1.%d.0/24", r))}
		for i := range n {
			rack.Peers = append(rack.Peers, routing.Peer{Address: ip(fmt.Sprintf("10.1.%d.%d", r, i+1)), ASN: 65101})
		}
		c.MachineNetworks = append(c.MachineNetworks, rack.Network)
		c.Routing.BGP.Racks = append(c.Routing.BGP.Racks, rack)
		for i := range masters[r] {
			a := ip(fmt.Sprintf("10.1.%d.%d", r, 11+i))
			f.Network.Members = append(f.Network.Members, facts.Member{Name: fmt.Sprint("m", len(f.Network.Members)+1), Addresses: []netip.Addr{a}, ControlPlane: true, Named: true})
			f.Daemons.Servers = append(f.Daemons.Servers, facts.Server{Address: netip.AddrPortFrom(a, 6443), Ready: true})
		}
	}
	p, err := plan.Compile(c)
	if err != nil {
		panic(err)
	}
	f.Plan = p
}

// worker is a host of the rack whose number is given, which does not announce the API's VIP. Of the
// connections to that so many hosts have answered, by their names.
func worker(rack int, routers, masters []int, change func(*facts.Facts), answered ...string) func(*facts.Facts) {
	return announcer(func(s *announcing.Seen) {
		s.Wish.Routes, s.Status.Sessions[0].Advertised, s.Status.Sessions[1].Advertised = nil, nil, nil
		s.Status.VIPs[0].Phase = speak.Idle
	}, func(f *facts.Facts) {
		racked(f, "", routers, masters)
		f.Host.Master, f.Routed.Rack = false, f.Plan.BGP.Racks[rack].String()
		s := facts.Spread{VIP: announcedVIP, Asked: 96}
		for _, name := range answered {
			s.Hosts = append(s.Hosts, facts.Answerer{Names: []string{name}, Times: 96 / len(answered)})
		}
		if f.Routed.Spreads = []facts.Spread{s}; change != nil {
			change(f)
		}
	})
}

// master is m1, the first node of the first rack, which announces the VIP with a grade.
func master(mode string, routers, masters []int, files func(*announcing.Seen)) func(*facts.Facts) {
	return announcer(func(s *announcing.Seen) {
		s.Status.VIPs[0].Since, s.Status.VIPs[0].Grade, s.Status.VIPs[0].Others = at.Add(-time.Hour), 4, nil
		files(s)
	}, func(f *facts.Facts) {
		racked(f, mode, routers, masters)
		f.Network.Members[0].Self, f.Routed.Rack = true, f.Plan.BGP.Racks[0].String()
	})
}

// reporting has a router report a path of so many numbers to another host; 0 for none.
func reporting(length int) func(*announcing.Seen) {
	return func(s *announcing.Seen) {
		if length == 0 {
			return
		}
		s.Status.VIPs[0].Others = []spoken.Other{{Session: "192.0.2.1", Announcer: ip("10.1.1.11"), Length: length}}
	}
}

// unreported has the router report a path to the ingress VIP alone.
func unreported(f *facts.Facts) {
	v := announcing.VIP{VIP: ip("203.0.113.6"), For: vrrp.Ingress, Others: []announcing.Other{{Router: "192.0.2.1", Host: ip("10.1.1.12"), Length: 3}}}
	f.Routed.Report.VIPs[0].Others = nil
	f.Routed.Report.VIPs = append(f.Routed.Report.VIPs, v)
}

// down2 has m2 not work.
func down2(f *facts.Facts) { f.Network.Members[1].Down = at }

// apart2 has VIPs kept away from m2.
func apart2(f *facts.Facts) { f.Network.Members[1].Apart = true }

// labelled has the first rack's nodes known by labels alone.
func labelled(f *facts.Facts) {
	first := f.Plan.BGP.Racks[0].Network
	f.Plan.BGP.Racks = slices.Clone(f.Plan.BGP.Racks)
	f.Plan.BGP.Racks[0].Network, f.Plan.BGP.Racks[0].Name, f.Routed.Rack = netip.Prefix{}, "a", "a"
	for i, m := range f.Network.Members {
		if first.Contains(m.Addresses[0]) {
			f.Network.Members[i].Rack = "a"
		}
	}
}

// failing has so many of the connections fail.
func failing(n int) func(*facts.Facts) {
	return func(f *facts.Facts) { f.Routed.Spreads[0].Failed, f.Routed.Spreads[0].Why = n, "refused" }
}

// also changes facts after that.
func also(first, then func(*facts.Facts)) func(*facts.Facts) {
	return func(f *facts.Facts) {
		first(f)
		then(f)
	}
}

func init() { cases = slices.Concat(cases, spreadCases) }

var (
	one, two, three = []int{1}, []int{1, 1}, []int{1, 1, 1}
	all3            = []string{"m1", "m2", "m3"}
)

var spreadCases = []testCase{
	{CheckFiltered, "a router reports a longer path", master("", three, three, reporting(8)), "prefers a longer path to another host (10.1.1.11)"},
	{CheckFiltered, "the VIP has just been announced", master("", three, three, func(s *announcing.Seen) {
		reporting(8)(s)
		s.Status.VIPs[0].Since = at.Add(-9 * time.Second)
	}), ""},
	{CheckFiltered, "the session is new", master("", three, three, func(s *announcing.Seen) {
		reporting(8)(s)
		s.Status.Sessions[0].Since = at.Add(-9 * time.Second)
	}), ""},
	{CheckFiltered, "the host leaves", master("", three, three, func(s *announcing.Seen) {
		reporting(8)(s)
		s.Status.VIPs[0].Phase = speak.Demoted
	}), ""},
	{CheckFiltered, "one of the same rack is reported", master("", one, []int{3}, reporting(6)), ""},
	{CheckFiltered, "its own one is", master("", one, []int{3}, func(s *announcing.Seen) { s.Status.VIPs[0].Own = []string{"192.0.2.1"} }), ""},
	{CheckFiltered, "nothing is", master("", three, three, reporting(0)), ""},
	{CheckFiltered, "the first of ranked ones", master("preferred", three, three, func(s *announcing.Seen) { s.Status.VIPs[0].Own = []string{"192.0.2.1"} }), ""},
	{CheckFiltered, "a standby", master("preferred", three, three, func(s *announcing.Seen) {
		reporting(8)(s)
		s.Status.VIPs[0].Grade = 8
	}), ""},
	{CheckFiltered, "no path to the VIP comes to a worker", worker(0, three, three, unreported), "reports paths to other VIPs, and none to this one, which m1, m2, m3 should announce"},
	{CheckFiltered, "no node is known to be ready", worker(0, three, three, func(f *facts.Facts) {
		unreported(f)
		f.Daemons.Servers = nil
	}), ""},
	{CheckFiltered, "it comes", worker(0, three, three, nil, "m1"), ""},
	{CheckFiltered, "VIPs are kept away from a node", worker(0, three, three, also(unreported, apart2)), "none to this one, which m1, m3 should announce"},
	{CheckNotReported, "VIPs are kept away from all others", announcer(func(s *announcing.Seen) {
		alone(s)
		s.Status.VIPs[0].Grade = 5
	}, func(f *facts.Facts) { f.Network.Members[0].Apart, f.Network.Members[2].Apart = true, true }), ""},

	{CheckWidth, "one of a rack", worker(0, one, []int{3}, nil, "m2"), "of 96 connections from here none came to m1, m3, and 3 nodes are to share them: m2 (96) answered"},
	{CheckWidth, "two of a rack", worker(0, one, []int{3}, nil, "m2", "m1"), "none came to m3"},
	{CheckWidth, "all of the rack", worker(0, one, []int{3}, nil, all3...), ""},
	{CheckWidth, "the nearest ones alone", worker(0, []int{1, 1}, []int{2, 2}, nil, "m1", "m2"), ""},
	{CheckWidth, "one near, as the others are further away", worker(0, three, three, nil, "m1"), ""},
	{CheckWidth, "those of another rack, and none near", worker(0, []int{1, 1}, []int{2, 2}, nil, "m3", "m4"), "none came to m1, m2"},
	{CheckWidth, "a rack without nodes, and one of three", worker(3, []int{1, 1, 1, 1}, []int{1, 1, 1, 0}, nil, "m1"), "none came to m2, m3"},
	{CheckWidth, "a rack without nodes, and all", worker(3, []int{1, 1, 1, 1}, []int{1, 1, 1, 0}, nil, all3...), ""},
	{CheckWidth, "a rack without nodes in a deep fabric", worker(3, []int{1, 1, 1, 1}, []int{1, 1, 1, 0}, func(f *facts.Facts) { f.Plan.BGP.FabricDepth = 2 }, "m1"), ""},
	{CheckWidth, "known by their addresses", worker(0, one, []int{2}, nil, "10.1.0.11", "10.1.0.12"), ""},
	{CheckWidth, "the bootstrap machine is in front", worker(0, one, []int{3}, nil, "boot"), ""},
	{CheckWidth, "nothing answers at kubelet's port", worker(0, one, []int{3}, nil), ""},
	{CheckWidth, "ranked nodes", worker(0, one, []int{3}, func(f *facts.Facts) { f.Plan.BGP.Mode = routing.Preferred }, "m1"), ""},
	{CheckWidth, "one does not work", worker(0, one, []int{3}, down2, "m1", "m3"), ""},
	{CheckWidth, "VIPs are kept away from one", worker(0, one, []int{3}, apart2, "m1", "m3"), ""},
	{CheckWidth, "VIPs are kept away from one, and one is missed", worker(0, one, []int{3}, apart2, "m1"), "none came to m3, and 2 nodes are to share them"},
	{CheckWidth, "a third of the connections failed", worker(0, one, []int{3}, failing(32), "m1", "m3"), ""},
	{CheckWidth, "few connections failed", worker(0, one, []int{3}, failing(8), "m1", "m3"), "of 88 connections from here none came to m2"},
	{CheckWidth, "the API did not answer", worker(0, one, []int{3}, func(f *facts.Facts) {
		for i := range f.Network.Members {
			f.Network.Members[i].Named = false
		}
	}, "m1"), ""},
	{CheckWidth, "a rack without a network", worker(0, one, []int{3}, func(f *facts.Facts) {
		f.Plan.BGP.Racks = slices.Clone(f.Plan.BGP.Racks)
		f.Plan.BGP.Racks[0].Network, f.Plan.BGP.Racks[0].Name = netip.Prefix{}, "a"
	}, "m1"), ""},
	{CheckWidth, "a rack by its name", worker(0, one, []int{3}, labelled, "m1"), "none came to m2, m3"},

	{CheckRacks, "two and one, a rack by its name", also(master("", two, []int{2, 1}, reporting(0)), labelled), "25 % each in rack a (m1, m2), 50 % each in rack 10.1.1.0/24 (m3)"},
	{CheckRacks, "two and one", master("", two, []int{2, 1}, reporting(0)), "25 % each in rack 10.1.0.0/24 (m1, m2), 50 % each in rack 10.1.1.0/24 (m3)"},
	{CheckRacks, "two and one, and VIPs are kept away from one of the two", also(master("", two, []int{2, 1}, reporting(0)), apart2), ""},
	{CheckRacks, "other numbers of routers", master("", []int{2, 1, 1}, three, reporting(0)), "50 % each in rack 10.1.0.0/24 (m1), 25 % each in rack 10.1.1.0/24 (m2), 25 % each in rack 10.1.2.0/24 (m3)"},
	{CheckRacks, "twice the nodes, and twice the routers", master("", []int{2, 1}, []int{2, 1}, reporting(0)), ""},
	{CheckRacks, "one each", master("", three, three, reporting(0)), ""},
	{CheckRacks, "all in one rack", master("", one, []int{3}, reporting(6)), ""},
	{CheckRacks, "a rack without nodes", master("", []int{1, 1, 2}, []int{1, 1, 0}, reporting(0)), ""},
	{CheckRacks, "ranked nodes", master("preferred", two, []int{2, 1}, func(s *announcing.Seen) { s.Status.VIPs[0].Own = []string{"192.0.2.1"} }), ""},
}

// TestWidth_NotReady holds that a node whose API server is not ready is missed at the VIP by no check: it
// announces nothing, and has a finding of its own.
func TestWidth_NotReady(t *testing.T) {
	f := healthy(t)
	worker(0, one, []int{3}, func(f *facts.Facts) { f.Daemons.Servers[1].Ready = false }, "m1", "m3")(&f)
	if found := Examine(f); len(found) != 1 || found[0].Check != CheckAPIServers {
		t.Errorf("%+v", found)
	}
}

// TestSeverity holds that shares which differ are a warning, and that all else is an error.
func TestSeverity(t *testing.T) {
	f := healthy(t)
	master("", two, []int{2, 1}, reporting(0))(&f)
	found := Examine(f)
	if len(found) != 1 || found[0].Severity != Warning || Errors(found) {
		t.Errorf("%+v", found)
	}
	f = healthy(t)
	master("", two, []int{2, 1}, reporting(8))(&f)
	if found = Examine(f); len(found) != 2 || found[0].Severity != Error || !Errors(found) || !strings.Contains(found[0].Do, "from AS 64512") {
		t.Errorf("%+v", found)
	}
}
