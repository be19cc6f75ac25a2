package routed

import (
	"net/netip"
	"strings"
	"testing"

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
	for _, b := range of(t, cluster("", "")).Bounds {
		if b.Ms < b.DarkMs || b.Why == "" || b.Failure == "" {
			t.Errorf("%+v", b)
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
