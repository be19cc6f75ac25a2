package proof

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/golden"
)

func TestProveCompat(t *testing.T) {
	proof, err := Prove(vrrp.Compat())
	if err != nil {
		t.Fatal(err)
	}
	if proof.ControlPlaneMax != 68 || proof.IngressMax != 80 || proof.Margin != 2 {
		t.Errorf("max %d, ingress max %d, margin %d; want 68, 80, 2", proof.ControlPlaneMax,
			proof.IngressMax, proof.Margin)
	}
	golden.Check(t, []byte(strings.Join(proof.Statements, "\n")+"\n"))
}

// TestRanked holds the numbers of clusters of ours, and that they elect the right holder in every
// rank, with and without the bonus.
func TestRanked(t *testing.T) {
	p := vrrp.Ranked()
	proof, err := Prove(p)
	if err != nil {
		t.Fatal(err)
	}
	if proof.ControlPlaneMax != 208 || proof.IngressMax != 249 || proof.Margin != 22 ||
		p.ControlPlane.Lowest() != 1 || p.Ingress.Lowest() != 1 {
		t.Errorf("max %d, ingress max %d, margin %d, lowest %d and %d", proof.ControlPlaneMax,
			proof.IngressMax, proof.Margin, p.ControlPlane.Lowest(), p.Ingress.Lowest())
	}
	golden.Check(t, []byte(strings.Join(proof.Statements, "\n")+"\n"))
}

// TestProveAccepts_AtTheBound holds that the ends of VRRP's range are in it.
func TestProveAccepts_AtTheBound(t *testing.T) {
	p := vrrp.Compat()
	p.Bootstrap, p.Ingress.Base = vrrp.MaxPriority, vrrp.MinPriority
	if _, err := Prove(p); err != nil {
		t.Error(err)
	}
	p.Ingress.Base = vrrp.MaxPriority - 60
	if proof, err := Prove(p); err != nil || proof.IngressMax != vrrp.MaxPriority {
		t.Errorf("the highest is %d: %v", proof.IngressMax, err)
	}
}

// TestRankedOutcomes holds that the proof leaves no outcome out.
func TestRankedOutcomes(t *testing.T) {
	for _, tt := range []struct {
		name string
		of   vrrp.Candidates
		want int
	}{
		{"control plane", vrrp.Ranked().ControlPlane, 8 * 5 * 2},
		{"ingress", vrrp.Ranked().Ingress, 8 * 24 * 2},
		{"control plane of today", vrrp.Compat().ControlPlane, 8},
		{"ingress of today", vrrp.Compat().Ingress, 8},
	} {
		if got := outcomes(tt.of, func(standing) {}); got != tt.want {
			t.Errorf("%s: %d outcomes, want %d", tt.name, got, tt.want)
		}
	}
}

// TestProveRejectsRanked changes one number of the ranked policy at a time.
func TestProveRejectsRanked(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*vrrp.Policy)
		want   []string
	}{
		{"no bonus", func(p *vrrp.Policy) { p.ControlPlane.Holder = 0 },
			[]string{"the holder must beat a node of equal health and any rank"}},
		{"a bonus below the spread", func(p *vrrp.Policy) { p.ControlPlane.Holder = 24 },
			[]string{"the holder must beat",
				"31 + 24 (holder) = 55 against 31 + 24 (rank 0) + 3 (mcs) = 58"}},
		{"a bonus above health",
			func(p *vrrp.Policy) { p.ControlPlane.Base, p.ControlPlane.Holder = 34, 33 }, []string{
				"a node with a working balancer must beat one with only a local API",
				"a node with only a local API must beat one with neither",
				"34 + 60 (both) = 94 against 34 + 24 (rank 0) + 33 (holder) + 3 (mcs) = 94"}},
		{"ranks beyond health", func(p *vrrp.Policy) { p.ControlPlane.Ranks[0] = 27 },
			[]string{"a node with only a local API must beat one with neither"}},
		{"a rank twice", func(p *vrrp.Policy) { p.ControlPlane.Ranks[1] = 24 },
			[]string{"control plane rank 1 adds 24: each rank adds less"}},
		{"a rank that takes away", func(p *vrrp.Policy) { p.ControlPlane.Ranks[4] = -1 },
			[]string{"control plane rank 4 adds -1"}},
		{"a bonus that takes away", func(p *vrrp.Policy) { p.Ingress.Holder = -1 },
			[]string{"ingress holder adds -1"}},
		{"bootstrap that a holder of the best rank reaches",
			func(p *vrrp.Policy) { p.Bootstrap = 208 },
			[]string{"31 + 24 (rank 0) + 30 (holder) + 60 (lb) + 60 (both) + 3 (mcs) = 208, " +
				"bootstrap 208"}},
		{"bootstrap above checks and ranks alone", func(p *vrrp.Policy) { p.Bootstrap = 150 },
			[]string{"= 208, bootstrap 150"}},
		{"ingress without a bonus", func(p *vrrp.Policy) { p.Ingress.Holder = 0 },
			[]string{"the holder must beat a node of equal health and any rank"}},
		{"ready below the spread and the bonus",
			func(p *vrrp.Policy) { p.Ingress.Weights[1].Adds = 53 },
			[]string{"the one that is ready must beat the one that drains"}},
		{"default below ready, the spread and the bonus",
			func(p *vrrp.Policy) { p.Ingress.Weights[0].Adds = 108 },
			[]string{"a node with the default router must beat one without"}},
		{"ingress above the range", func(p *vrrp.Policy) { p.Ingress.Weights[0].Adds = 116 },
			[]string{"= 255 is outside 1 to 254"}},
		{"a base that the bonus takes away", func(p *vrrp.Policy) { p.ControlPlane.Base = 30 },
			[]string{"control plane nodes that begin without health are all cut to priority 1, " +
				"as they lie 30 below base 30"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := vrrp.Ranked()
			tt.change(&p)
			_, err := Prove(p)
			if err == nil {
				t.Fatal("proven")
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error:\n%v\nlacks %q", err, want)
				}
			}
		})
	}
}

func TestProveRejects(t *testing.T) {
	set := func(c *vrrp.Candidates, check vrrp.CheckName, change func(*vrrp.Weight)) {
		for i := range c.Weights {
			if c.Weights[i].Check == check {
				change(&c.Weights[i])
			}
		}
	}
	tests := []struct {
		name   string
		change func(*vrrp.Policy)
		want   []string
	}{
		{"weights that sum to 30",
			func(p *vrrp.Policy) {
				set(&p.ControlPlane, vrrp.CheckMCS,
					func(w *vrrp.Weight) { w.Adds = 5 })
			},
			[]string{"control plane priorities reach the bootstrap's: 40 + 20 (lb) + 5 (both) + " +
				"5 (mcs) = 70, bootstrap 70; lower the weights' sum below 30",
				"a node with only a local API must beat one with neither",
				"40 + 5 (both) = 45 against 40 + 5 (mcs) = 45"}},
		{"bootstrap at the nodes' highest", func(p *vrrp.Policy) { p.Bootstrap = 68 },
			[]string{"= 68, bootstrap 68; lower the weights' sum below 28"}},
		{"bootstrap as it was in 2020", func(p *vrrp.Policy) { p.Bootstrap = 50 },
			[]string{"= 68, bootstrap 50; lower the weights' sum below 10"}},
		{"everything at once", func(p *vrrp.Policy) {
			p.Bootstrap = 60
			set(&p.ControlPlane, vrrp.CheckLB, func(w *vrrp.Weight) { w.Adds = 3 })
			set(&p.ControlPlane, vrrp.CheckMCS, func(w *vrrp.Weight) { w.Adds = 20 })
			set(&p.Ingress, vrrp.CheckDefaultIngress, func(w *vrrp.Weight) { w.Adds = 10 })
		}, []string{"= 68, bootstrap 60", "a node with a working balancer must beat one with " +
			"only a local API whatever else works, but 40 + 3 (lb) + 5 (both) = 48 against 40 + " +
			"5 (both) + 20 (mcs) = 65",
			"a node with only a local API must beat one with neither",
			"a node with the default router must beat one without whatever else works, but " +
				"20 + 10 (default_ingress) = 30 against 20 + 10 (ingress_ready) = 30"}},
		{"no machine-config-server check",
			func(p *vrrp.Policy) { p.ControlPlane.Weights = p.ControlPlane.Weights[:2] },
			[]string{"the one that serves Ignition must beat the other"}},
		{"no check of the local API",
			func(p *vrrp.Policy) { p.ControlPlane.Weights = p.ControlPlane.Weights[:1] },
			[]string{"a node with only a local API must beat one with neither whatever else " +
				"works, but 40 against 40\n"}},
		{"no ready check",
			func(p *vrrp.Policy) {
				p.Ingress.Weights = append(p.Ingress.Weights[:1:1],
					p.Ingress.Weights[2])
			},
			[]string{"the one that is ready must beat the one that drains"}},
		{"bootstrap as address owner", func(p *vrrp.Policy) { p.Bootstrap = 255 },
			[]string{"bootstrap priority 255 is outside 1 to 254"}},
		{"base 0", func(p *vrrp.Policy) { p.Ingress.Base = 0 },
			[]string{"ingress priority 0 is outside 1 to 254"}},
		{"ingress above the range", func(p *vrrp.Policy) { p.Ingress.Base = 200 },
			[]string{"ingress priority 200 + 50 (default_ingress) + 10 (ingress_ready) = 260 is " +
				"outside 1 to 254"}},
		{"health as a malus",
			func(p *vrrp.Policy) {
				set(&p.ControlPlane, vrrp.CheckLB,
					func(w *vrrp.Weight) { w.Adds = -20 })
			},
			[]string{"control plane check lb adds -20"}},
		{"a check without effect",
			func(p *vrrp.Policy) {
				set(&p.ControlPlane, vrrp.CheckLB,
					func(w *vrrp.Weight) { w.Adds = 0 })
			}, []string{"control plane check lb adds 0"}},
		{"a check with two effects",
			func(p *vrrp.Policy) {
				set(&p.Ingress, vrrp.CheckIngress,
					func(w *vrrp.Weight) { w.Adds = 1 })
			},
			[]string{"ingress check ingress both adds 1"}},
		{"a check that nothing drives",
			func(p *vrrp.Policy) {
				set(&p.ControlPlane, vrrp.CheckMCS,
					func(w *vrrp.Weight) { w.Check = "moon" })
			},
			[]string{`control plane check "moon": nothing drives it`}},
		{"a check twice",
			func(p *vrrp.Policy) {
				set(&p.ControlPlane, vrrp.CheckMCS,
					func(w *vrrp.Weight) { w.Check = vrrp.CheckLB })
			},
			[]string{"control plane check lb is there twice"}},
		{"a control plane check that can take a good node out", func(p *vrrp.Policy) {
			set(&p.ControlPlane, vrrp.CheckMCS, func(w *vrrp.Weight) { w.Adds, w.Fault = 0, true })
		}, []string{"a node with a working balancer must beat one with only a local API whatever " +
			"else works, but 0 (out of the election) against 40 + 5 (both) = 45"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := vrrp.Compat()
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

// TestProveStopsAtRange holds that numbers which VRRP cannot announce are not compared: cut to 8
// bits they would look like others.
func TestProveStopsAtRange(t *testing.T) {
	p := vrrp.Compat()
	p.ControlPlane.Base = 240
	_, err := Prove(p)
	want := "control plane priority 240 + 20 (lb) + 5 (both) + 3 (mcs) = 268 is outside 1 to 254"
	if err == nil || err.Error() != want {
		t.Errorf("error %q, want only %q", err, want)
	}
}

// TestProveAgrees compares Prove with sums written out by hand, over policies on both sides of
// every claim.
func TestProveAgrees(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	accepted := 0
	for range 10_000 {
		lb, both, mcs := 1+random.IntN(12), 1+random.IntN(6), 1+random.IntN(6)
		p := vrrp.Compat()
		p.Bootstrap = vrrp.Priority(40 + random.IntN(30))
		w := p.ControlPlane.Weights
		w[0].Adds, w[1].Adds, w[2].Adds = lb, both, mcs
		want := 40+lb+both+mcs < int(p.Bootstrap) && lb > mcs && both > mcs
		if _, err := Prove(p); (err == nil) != want {
			t.Fatalf("bootstrap %d, lb %d, both %d, mcs %d: %v", p.Bootstrap, lb, both, mcs, err)
		}
		if want {
			accepted++
		}
	}
	if accepted < 1000 {
		t.Errorf("only %d policies were good: the test covers one side only", accepted)
	}
}

// TestProveAgreesRanked is the same over policies with ranks and a bonus.
func TestProveAgreesRanked(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	accepted := 0
	for range 2_000 {
		spread, holder := 4+random.IntN(12), random.IntN(24)
		lb, both, mcs := 20+random.IntN(30), 20+random.IntN(30), 1+random.IntN(4)
		p := vrrp.Ranked()
		p.Bootstrap = vrrp.Priority(90 + random.IntN(120))
		p.ControlPlane = vrrp.Candidates{Base: 31, Ranks: []int{spread, spread - 1, 2, 1, 0},
			Holder: holder, Weights: p.ControlPlane.Weights}
		w := p.ControlPlane.Weights
		w[0].Adds, w[1].Adds, w[2].Adds = lb, both, mcs
		moves := spread + holder + mcs // what may speak for a node beside its health
		want := 31+moves+lb+both < int(p.Bootstrap) && lb > moves && both > moves &&
			holder > spread+mcs
		if _, err := Prove(p); (err == nil) != want {
			t.Fatalf("bootstrap %d, spread %d, holder %d, lb %d, both %d, mcs %d: %v", p.Bootstrap,
				spread, holder, lb, both, mcs, err)
		}
		if want {
			accepted++
		}
	}
	if accepted < 100 {
		t.Errorf("only %d policies were good: the test covers one side only", accepted)
	}
}
