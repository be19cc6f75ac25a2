package vrrp

import (
	"net/netip"
	"strings"
	"testing"
	"time"
)

// TestCompat holds the numbers that nodes of another make announce beside ours.
func TestCompat(t *testing.T) {
	p := Compat()
	weights := func(c Candidates) map[CheckName]int {
		adds := map[CheckName]int{}
		for _, w := range c.Weights {
			if adds[w.Check] = w.Adds; w.Fault {
				adds[w.Check] = -1
			}
			if w.Owner == "" || w.Why == "" {
				t.Errorf("check %s has no owner or no reason", w.Check)
			}
		}
		return adds
	}
	if p.Bootstrap != 70 || p.ControlPlane.Base != 40 || p.Ingress.Base != 20 {
		t.Errorf("bootstrap %d, control plane %d, ingress %d; want 70, 40, 20", p.Bootstrap,
			p.ControlPlane.Base, p.Ingress.Base)
	}
	same(t, "control "+
		"plane", weights(p.ControlPlane), map[CheckName]int{"lb": 20, "both": 5, "mcs": 3})
	same(t, "ingress", weights(p.Ingress),
		map[CheckName]int{"default_ingress": 50, "ingress_ready": 10, "ingress": -1})
	if p.ControlPlane.Highest() != 68 || p.Ingress.Highest() != 80 {
		t.Errorf("highest %d and %d, want 68 and 80", p.ControlPlane.Highest(), p.Ingress.Highest())
	}
}

func same(t *testing.T, what string, got, want map[CheckName]int) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s weights %v, want %v", what, got, want)
	}
	for check, adds := range want {
		if got[check] != adds {
			t.Errorf("%s check %s adds %d, want %d", what, check, got[check], adds)
		}
	}
}

// TestRank holds that whoever has no rank, or one that does not exist, is behind all that have one.
func TestRank(t *testing.T) {
	c := Ranked().ControlPlane
	for rank, want := range map[int]int{-1: 0, 0: 24, 1: 18, 4: 0, 5: 0, 99: 0} {
		if got := c.Rank(rank); got != want {
			t.Errorf("rank %d adds %d, want %d", rank, got, want)
		}
	}
	if got := Compat().ControlPlane.Rank(0); got != 0 {
		t.Errorf("a rank adds %d where there are none", got)
	}
}

// TestPlaces holds that no two candidates share a rank.
func TestPlaces(t *testing.T) {
	ranked, equal := Ranked().ControlPlane, Compat().ControlPlane
	if last := len(ranked.Ranks) - 1; !ranked.Places(last) || ranked.Places(last+1) ||
		!equal.Places(99) {
		t.Errorf("last %t, after it %t, without ranks %t", ranked.Places(last),
			ranked.Places(last+1), equal.Places(99))
	}
}

// TestUnserved holds which holders release the VIP at once.
func TestUnserved(t *testing.T) {
	none := Signals{}.Passes
	for name, tt := range map[string]struct {
		got, want bool
	}{
		"among two": {Ranked().ControlPlane.Unserved(API, 2, none), true},
		"alone":     {Ranked().ControlPlane.Unserved(API, 1, none), false},
		"it serves": {Ranked().ControlPlane.Unserved(API, 2,
			Signals{API: true}.Passes), false},
		"ingress":                {Ranked().Ingress.Unserved(Ingress, 2, none), false},
		"OpenShift's of today":   {Compat().ControlPlane.Unserved(API, 2, none), false},
		"no name server answers": {Ranked().WithDNS().DNS.Unserved(DNS, 2, none), true},
		"the name server answers": {Ranked().WithDNS().DNS.Unserved(DNS, 2,
			Signals{DNS: true}.Passes), false},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: released %t, want %t", name, tt.got, tt.want)
		}
	}
}

// TestBootstrapPatience holds that the bootstrap machine waits for nodes of ours alone, with each VIP
// that it holds first.
func TestBootstrapPatience(t *testing.T) {
	for want, policy := range map[time.Duration]Policy{Standing: Ranked(), 0: Compat()} {
		policy = policy.WithDNS()
		for _, c := range []Candidates{policy.ControlPlane, policy.DNS} {
			if got := c.BootstrapPatience(); got != want {
				t.Errorf("holder bonus %d: it waits %v, want %v", c.Holder, got, want)
			}
		}
	}
}

// TestSpread holds that a node's rank follows from its address alone, whatever form that has, and
// that nodes of one network have many.
func TestSpread(t *testing.T) {
	c, seen := Ranked().Ingress, map[int]int{}
	for host := range 240 {
		a := netip.AddrFrom4([4]byte{192, 0, 2, byte(host)})
		rank := c.Spread(a)
		if rank < 0 || rank >= len(c.Ranks) || c.Spread(netip.AddrFrom16(a.As16())) != rank {
			t.Errorf("%s has rank %d", a, rank)
		}
		seen[rank]++
	}
	for rank := range c.Ranks {
		if seen[rank] < 3 || seen[rank] > 25 {
			t.Errorf("of 240 nodes, %d have rank %d", seen[rank], rank)
		}
	}
	if got := Compat().Ingress.Spread(netip.MustParseAddr("192.0.2.1")); got != 0 {
		t.Errorf("rank %d where there are none", got)
	}
}

// TestSignals holds which checks pass when only one thing works.
func TestSignals(t *testing.T) {
	driven := []CheckName{CheckLB, CheckBoth, CheckMCS, CheckIngress, CheckIngressReady,
		CheckDefaultIngress, CheckDNS}
	checks := append(driven, "moon")
	for i, c := range checks {
		if got := Driven(c); got != (i < len(driven)) {
			t.Errorf("%s is driven: %v", c, got)
		}
	}
	tests := []struct {
		name    string
		signals Signals
		want    string
	}{
		{"nothing", Signals{}, ""},
		{"balancer", Signals{LB: true}, "lb both"},
		{"local API", Signals{API: true}, "both"},
		{"machine-config-server", Signals{MCS: true}, "mcs"},
		{"draining router", Signals{Router: true}, "ingress"},
		{"ready router", Signals{Router: true, RouterReady: true}, "ingress ingress_ready"},
		{"dead router that was ready", Signals{RouterReady: true}, ""},
		{"default router", Signals{DefaultRouter: true}, "default_ingress"},
		{"name server", Signals{DNS: true}, "dns"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var passing []string
			for _, c := range checks {
				if tt.signals.Passes(c) {
					passing = append(passing, string(c))
				}
			}
			if got := strings.Join(passing, " "); got != tt.want {
				t.Errorf("passing %q, want %q", got, tt.want)
			}
		})
	}
}
