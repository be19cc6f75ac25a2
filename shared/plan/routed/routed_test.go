package routed

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/plan/bound"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

func cluster(mode, timing string) spec.Cluster {
	return spec.Cluster{Platform: spec.BareMetal, ControlPlaneReplicas: 3, APIVIPs: []netip.Addr{netip.MustParseAddr("198.51.100.5")},
		Routing: spec.Routing{Management: spec.ByBGP, BGP: routing.BGPSettings{ASN: 64512, Mode: mode, Timers: routing.Timers{Timing: timing},
			Racks: []routing.Rack{{Network: netip.MustParsePrefix("10.1.1.0/24")}, {Network: netip.MustParsePrefix("10.1.2.0/24"), Name: "b"}, {Name: "c"}}}}}
}

func of(t *testing.T, c spec.Cluster) *Plan {
	t.Helper()
	checks, _ := vrrp.TimingOf(vrrp.ProfileLan)
	a, err := Of(c, checks, c.ControlPlaneReplicas)
	if err != nil {
		t.Fatal(err)
	}
	return a.BGP
}

// TestOf_Modes holds the grades of both modes, what people are told of each, and that a cluster by VRRP has nothing of it.
func TestOf_Modes(t *testing.T) {
	equal, ranked := of(t, cluster("", "")), of(t, cluster(preferred, ""))
	if len(equal.Grades.Nodes) != 1 || equal.Mode != ecmp || equal.Grades.Bootstrap != 0 || equal.Grades.Nodes[0] != 4 || equal.Grades.Leaving != 8 || equal.Grades.OwnAPI != 1 {
		t.Errorf("%+v", equal.Grades)
	}
	if n := ranked.Grades.Nodes; len(n) != 3 || n[1]-n[0] <= ranked.Policy.Apart() || ranked.Grades.Leaving <= n[2] {
		t.Errorf("ranks: %+v", ranked.Grades)
	}
	spreads := func(p *Plan) bool { return strings.Contains(strings.Join(p.Needs, " "), "multipath-relax") }
	if !spreads(equal) || spreads(ranked) || equal.Notes[0] == ranked.Notes[0] {
		t.Errorf("needs and notes: %q %q, %q %q", equal.Needs, equal.Notes, ranked.Needs, ranked.Notes)
	}
	c := cluster("", "")
	if c.Routing = (spec.Routing{}); of(t, c) != nil {
		t.Error("a cluster by VRRP announces")
	}
}

// TestOf_Needs holds that the routers' people learn that paths are compared by their length, and how FRR does
// it with hosts that ask for TTL security, where some do.
func TestOf_Needs(t *testing.T) {
	c := cluster(preferred, "")
	if all := strings.Join(of(t, c).Needs, " "); !strings.Contains(all, "no bestpath as-path ignore") || strings.Contains(all, "ttlSecurity") {
		t.Errorf("%q", all)
	}
	c.Routing.BGP.Racks[1].Peers = []routing.Peer{{Address: netip.MustParseAddr("10.1.2.1"), TTLSecurity: true}}
	if all := strings.Join(of(t, c).Needs, " "); !strings.Contains(all, "where ttlSecurity is set") || !strings.Contains(all, "peer-group") {
		t.Errorf("%q", all)
	}
}

// TestOf_Communities holds that communities have the order in which FRR has them, so that no host takes that for a
// difference.
func TestOf_Communities(t *testing.T) {
	c := cluster("", "")
	c.Routing.BGP.Communities = []string{"64512:200", "64512:100", "64512:200"}
	if got := of(t, c).Communities; !slices.Equal(got, []string{"64512:100", "64512:200"}) {
		t.Errorf("%q", got)
	}
}

// TestOf_Timings holds what a power loss costs at most in each profile, computed by hand: detection and three routers of 60 ms.
func TestOf_Timings(t *testing.T) {
	for profile, want := range map[string]int{"": 480, bgp.ProfileLan: 480, bgp.ProfileVM: 1080, bgp.ProfileHold: 3180} {
		p := of(t, cluster("", profile))
		if got := find(p.Bounds, "bgp-power-loss"); got.Ms != want || got.DarkMs != want {
			t.Errorf("%q: %+v, want %d", profile, got, want)
		}
		if does := strings.Contains(strings.Join(p.Needs, " "), "it does BFD"); does != (profile != bgp.ProfileHold) {
			t.Errorf("%q: %q", profile, p.Needs)
		}
	}
	c := cluster("", "")
	if c.Platform = spec.VSphere; of(t, c).Timing.Profile != bgp.ProfileVM {
		t.Error("virtual machines have the timing of bare metal")
	}
	mixed := cluster("", bgp.ProfileVM)
	mixed.Routing.BGP.Racks = mixed.Routing.BGP.Racks[:2]
	mixed.Routing.BGP.Racks[0].Timing, mixed.Routing.BGP.Racks[1].Timing = bgp.ProfileHold, bgp.ProfileLan
	if p := of(t, mixed); p.Model.Profile != bgp.ProfileHold || p.Timing.Profile != bgp.ProfileHold || p.Fastest().Profile != bgp.ProfileLan {
		t.Errorf("two racks: the slowest timing is %+v, the fastest %+v", p.Model, p.Fastest())
	}
	for i := range mixed.Routing.BGP.Racks {
		mixed.Routing.BGP.Racks[i].Timing = bgp.ProfileLan
	}
	if p := of(t, mixed); p.Model.Profile != bgp.ProfileLan {
		t.Errorf("no rack has the timing %+v", p.Model)
	}
	for _, b := range of(t, cluster("", "")).Bounds {
		if b.Ms < b.DarkMs || b.Why == "" || b.Failure == "" {
			t.Errorf("%+v", b)
		}
	}
}

// TestOf_NoBFD holds what a power loss costs where a session has no BFD although it is wanted: three seconds at most where
// another program has its port, and the session's own hold time where the router speaks none, the longest of all racks.
func TestOf_NoBFD(t *testing.T) {
	mixed := cluster("", bgp.ProfileVM)
	mixed.Routing.BGP.Racks[1].Timers = routing.Timers{Hold: 30 * time.Second, Interval: routing.Off}
	longer := cluster("", "")
	longer.Routing.BGP.Racks[1].Hold = 30 * time.Second
	for name, tt := range map[string]struct {
		c    spec.Cluster
		want int
	}{
		"lan": {cluster("", bgp.ProfileLan), 9180}, "vm": {cluster("", bgp.ProfileVM), 9180}, "ranked": {cluster(preferred, ""), 9300},
		"without BFD": {cluster("", bgp.ProfileHold), 0}, "one rack without BFD": {mixed, 9180}, "one with a longer hold time": {longer, 30180},
	} {
		got := find(of(t, tt.c).Bounds, "bgp-power-loss-no-bfd")
		if got.Ms != tt.want || got.DarkMs != tt.want {
			t.Errorf("%s: %+v, want %d", name, got, tt.want)
		}
		for _, part := range []string{"hold time of " + fmt.Sprint((tt.want/1000)*1000) + " ms", "after 3000 ms"} {
			if tt.want > 0 && !strings.Contains(got.Why, part) {
				t.Errorf("%s: %q lacks %q", name, got.Why, part)
			}
		}
	}
}

func find(all []bound.Bound, scenario string) bound.Bound {
	for _, b := range all {
		if b.Scenario == scenario {
			return b
		}
	}
	return bound.Bound{}
}

// TestFind holds that a host is in the rack of its name, else in that of its address.
func TestFind(t *testing.T) {
	p := of(t, cluster("", ""))
	for _, tt := range []struct{ name, address, want, err string }{
		{"", "10.1.1.9", "10.1.1.0/24", ""}, {"", "10.1.2.9", "b (10.1.2.0/24)", ""}, {"c", "10.1.2.9", "c", ""},
		{"d", "10.1.2.9", "", `named "d"`}, {"", "192.0.2.1", "", "192.0.2.1"},
	} {
		r, err := p.Find(tt.name, []netip.Addr{netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr(tt.address)})
		if err == nil != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) || err == nil && r.String() != tt.want {
			t.Errorf("%+v: %v, %v", tt, r, err)
		}
	}
}

// TestShares holds what each host of a rack gets, where routers and hosts of racks differ, and that racks with
// other numbers of routers are named.
func TestShares(t *testing.T) {
	racks := func(mode string, routers ...int) *Plan {
		c := cluster(mode, "")
		c.Routing.BGP.Racks = nil
		for r, n := range routers {
			rack := routing.Rack{Network: netip.MustParsePrefix(fmt.Sprintf("10.1.%d.0/24", r))}
			for i := range n {
				rack.Peers = append(rack.Peers, routing.Peer{Address: netip.MustParseAddr(fmt.Sprintf("10.1.%d.%d", r, i+1)), ASN: 65101})
			}
			c.Routing.BGP.Racks = append(c.Routing.BGP.Racks, rack)
		}
		return of(t, c)
	}
	for _, tt := range []struct {
		name    string
		routers []int
		hosts   map[string]int
		want    []float64
		unequal bool
	}{
		{"alike", []int{1, 1, 1}, map[string]int{"10.1.0.0/24": 1, "10.1.1.0/24": 1, "10.1.2.0/24": 1}, []float64{33, 33, 33}, false},
		{"two and one", []int{1, 1}, map[string]int{"10.1.0.0/24": 2, "10.1.1.0/24": 1}, []float64{25, 50}, false},
		{"two routers and one", []int{2, 1}, map[string]int{"10.1.0.0/24": 1, "10.1.1.0/24": 1}, []float64{67, 33}, true},
		{"a rack without hosts", []int{1, 3, 1}, map[string]int{"10.1.0.0/24": 2, "10.1.2.0/24": 2}, []float64{25, 25}, true},
		{"gateways, however many", []int{1, 0}, map[string]int{"10.1.0.0/24": 1, "10.1.1.0/24": 1}, nil, false},
		{"no hosts", []int{1, 1}, nil, nil, false},
	} {
		p := racks("", tt.routers...)
		var got []float64
		for _, s := range p.Shares(false, tt.hosts) {
			got = append(got, math.Round(s.Percent))
		}
		if !slices.Equal(got, tt.want) || len(p.Shares(true, tt.hosts)) > 0 {
			t.Errorf("%s: %v, want %v; by IPv6 %v", tt.name, got, tt.want, p.Shares(true, tt.hosts))
		}
		if has := strings.Contains(strings.Join(p.Notes, " "), "different numbers of routers (10.1.0.0/24: "); has != tt.unequal {
			t.Errorf("%s: %q", tt.name, p.Notes)
		}
		if ranked := racks(preferred, tt.routers...); len(ranked.Shares(false, tt.hosts)) > 0 || len(ranked.Notes) != 1 {
			t.Errorf("%s, ranked: %q", tt.name, ranked.Notes)
		}
		if p.FabricDepth = 2; len(p.Shares(false, tt.hosts)) > 0 || p.unequal() != "" {
			t.Errorf("%s, in a deep fabric: %v", tt.name, p.Shares(false, tt.hosts))
		}
	}
}
