package vrrp

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/test/golden"
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
		t.Errorf("bootstrap %d, control plane %d, ingress %d; want 70, 40, 20", p.Bootstrap, p.ControlPlane.Base, p.Ingress.Base)
	}
	same(t, "control plane", weights(p.ControlPlane), map[CheckName]int{"lb": 20, "both": 5, "mcs": 3})
	same(t, "ingress", weights(p.Ingress), map[CheckName]int{"default_ingress": 50, "ingress_ready": 10, "ingress": -1})
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

func TestProveCompat(t *testing.T) {
	proof, err := Prove(Compat())
	if err != nil {
		t.Fatal(err)
	}
	if proof.ControlPlaneMax != 68 || proof.IngressMax != 80 || proof.Margin != 2 {
		t.Errorf("max %d, ingress max %d, margin %d; want 68, 80, 2", proof.ControlPlaneMax, proof.IngressMax, proof.Margin)
	}
	golden.Check(t, []byte(strings.Join(proof.Statements, "\n")+"\n"))
}

func TestProveRejects(t *testing.T) {
	set := func(c *Candidates, check CheckName, change func(*Weight)) {
		for i := range c.Weights {
			if c.Weights[i].Check == check {
				change(&c.Weights[i])
			}
		}
	}
	tests := []struct {
		name   string
		change func(*Policy)
		want   []string
	}{
		{"weights that sum to 30", func(p *Policy) { set(&p.ControlPlane, CheckMCS, func(w *Weight) { w.Adds = 5 }) },
			[]string{"control plane priorities reach the bootstrap's: 40 + 20 (lb) + 5 (both) + 5 (mcs) = 70, bootstrap 70; lower the weights' sum below 30",
				"a node with only a local API must beat one with neither", "40 + 5 (both) = 45 against 40 + 5 (mcs) = 45"}},
		{"bootstrap at the nodes' highest", func(p *Policy) { p.Bootstrap = 68 }, []string{"= 68, bootstrap 68; lower the weights' sum below 28"}},
		{"bootstrap as it was in 2020", func(p *Policy) { p.Bootstrap = 50 }, []string{"= 68, bootstrap 50; lower the weights' sum below 10"}},
		{"everything at once", func(p *Policy) {
			p.Bootstrap = 60
			set(&p.ControlPlane, CheckLB, func(w *Weight) { w.Adds = 3 })
			set(&p.ControlPlane, CheckMCS, func(w *Weight) { w.Adds = 20 })
			set(&p.Ingress, CheckDefaultIngress, func(w *Weight) { w.Adds = 10 })
		}, []string{"= 68, bootstrap 60", "a node with a working balancer must beat one with only a local API whatever else works, but 40 + 3 (lb) + 5 (both) = 48 against 40 + 5 (both) + 20 (mcs) = 65",
			"a node with only a local API must beat one with neither", "a node with the default router must beat one without whatever else works, but 20 + 10 (default_ingress) = 30 against 20 + 10 (ingress_ready) = 30"}},
		{"no machine-config-server check", func(p *Policy) { p.ControlPlane.Weights = p.ControlPlane.Weights[:2] }, []string{"the one that serves Ignition must beat the other"}},
		{"no check of the local API", func(p *Policy) { p.ControlPlane.Weights = p.ControlPlane.Weights[:1] },
			[]string{"a node with only a local API must beat one with neither whatever else works, but 40 against 40\n"}},
		{"no ready check", func(p *Policy) { p.Ingress.Weights = append(p.Ingress.Weights[:1:1], p.Ingress.Weights[2]) }, []string{"the one that is ready must beat the one that drains"}},
		{"bootstrap as address owner", func(p *Policy) { p.Bootstrap = 255 }, []string{"bootstrap priority 255 is outside 1 to 254"}},
		{"base 0", func(p *Policy) { p.Ingress.Base = 0 }, []string{"ingress priority 0 is outside 1 to 254"}},
		{"ingress above the range", func(p *Policy) { p.Ingress.Base = 200 }, []string{"ingress priority 200 + 50 (default_ingress) + 10 (ingress_ready) = 260 is outside 1 to 254"}},
		{"health as a malus", func(p *Policy) { set(&p.ControlPlane, CheckLB, func(w *Weight) { w.Adds = -20 }) }, []string{"control plane check lb adds -20"}},
		{"a check without effect", func(p *Policy) { set(&p.ControlPlane, CheckLB, func(w *Weight) { w.Adds = 0 }) }, []string{"control plane check lb adds 0"}},
		{"a check with two effects", func(p *Policy) { set(&p.Ingress, CheckIngress, func(w *Weight) { w.Adds = 1 }) }, []string{"ingress check ingress both adds 1"}},
		{"a check that nothing drives", func(p *Policy) { set(&p.ControlPlane, CheckMCS, func(w *Weight) { w.Check = "moon" }) }, []string{`control plane check "moon": nothing drives it`}},
		{"a check twice", func(p *Policy) { set(&p.ControlPlane, CheckMCS, func(w *Weight) { w.Check = CheckLB }) }, []string{"control plane check lb is there twice"}},
		{"a control plane check that can take a good node out", func(p *Policy) {
			set(&p.ControlPlane, CheckMCS, func(w *Weight) { w.Adds, w.Fault = 0, true })
		}, []string{"a node with a working balancer must beat one with only a local API whatever else works, but 0 (out of the election) against 40 + 5 (both) = 45"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := Compat()
			tt.change(&p)
			proof, err := Prove(p)
			if err == nil {
				t.Fatalf("proven: %+v", proof)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error:\n%v\nlacks %q", err, want)
				}
			}
			if len(proof.Statements) > 0 {
				t.Errorf("a refused policy has statements: %q", proof.Statements)
			}
		})
	}
}

// TestProveStopsAtRange holds that numbers which VRRP cannot announce are not compared: cut to 8 bits they would look like others.
func TestProveStopsAtRange(t *testing.T) {
	p := Compat()
	p.ControlPlane.Base = 240
	_, err := Prove(p)
	want := "control plane priority 240 + 20 (lb) + 5 (both) + 3 (mcs) = 268 is outside 1 to 254"
	if err == nil || err.Error() != want {
		t.Errorf("error %q, want only %q", err, want)
	}
}

// TestProveAgrees compares Prove with sums written out by hand, over policies on both sides of every claim.
func TestProveAgrees(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	accepted := 0
	for range 10_000 {
		lb, both, mcs := 1+random.IntN(12), 1+random.IntN(6), 1+random.IntN(6)
		p := Compat()
		p.Bootstrap = Priority(40 + random.IntN(30))
		p.ControlPlane.Weights[0].Adds, p.ControlPlane.Weights[1].Adds, p.ControlPlane.Weights[2].Adds = lb, both, mcs
		want := 40+lb+both+mcs < int(p.Bootstrap) && lb > mcs && both > mcs
		if _, err := Prove(p); (err == nil) != want {
			t.Fatalf("bootstrap %d, lb %d, both %d, mcs %d: %v", p.Bootstrap, lb, both, mcs, err)
		}
		if want {
			accepted++
		}
	}
	if accepted < 1000 {
		t.Errorf("only %d policies were good: the test looks at one side only", accepted)
	}
}

// TestSignals holds which checks pass when only one thing works.
func TestSignals(t *testing.T) {
	checks := []CheckName{CheckLB, CheckBoth, CheckMCS, CheckIngress, CheckIngressReady, CheckDefaultIngress, "moon"}
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
