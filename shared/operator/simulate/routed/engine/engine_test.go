package engine

import (
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/rules"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/world"
	"github.com/onprem-infra/onprem-infra/test/racks"
)

func simulated(t testing.TB, fabric string) schedule.Cluster {
	t.Helper()
	f, ok := racks.Fabrics()[fabric]
	if !ok {
		t.Fatalf("there is no fabric %q", fabric)
	}
	c, err := schedule.Of(f.Plan(t), 3)
	if err != nil {
		t.Fatal(err)
	}
	c.Flows = 100
	return c
}

// faults is a schedule of lines, with a seed.
func faults(t testing.TB, c schedule.Cluster, seed uint64, lines ...string) schedule.Schedule {
	t.Helper()
	s, err := schedule.Parse("length 90s\n" + strings.Join(lines, "\n"))
	if err == nil {
		err = c.Check(s)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Seed = seed
	return s
}

// installation are control plane nodes that join.
var installation = []string{"0s join master-0", "1s join master-1", "2s join master-2"}

// TestRun_Equal holds that equal seeds give equal results.
func TestRun_Equal(t *testing.T) {
	for fabric := range racks.Fabrics() {
		for seed := range uint64(10) {
			a := Run(schedule.Trial(seed, simulated(t, fabric)))
			if b := Run(schedule.Trial(seed, simulated(t, fabric))); !reflect.DeepEqual(a, b) {
				t.Errorf("%s, seed %d:\n%s\nand then\n%s", fabric, seed, a.Text(), b.Text())
			}
		}
	}
}

// TestRun_Orderly holds that a host which leaves in order costs no client anything, wherever it is, and
// that it announces again afterwards.
func TestRun_Orderly(t *testing.T) {
	for fabric := range racks.Fabrics() {
		for _, host := range []string{"master-0", "master-1", "master-2"} {
			for _, kind := range []string{"upgrade", "reboot"} {
				c := simulated(t, fabric)
				r := Run(c, faults(t, c, 1, "2s "+kind+" "+host+" for 1s"))
				var last string
				for _, n := range r.Notes {
					last = n.Where + " " + n.What
				}
				if r.Cost.Share > 0 || len(r.Broken) > 0 || last != host+" API VIP announced" {
					t.Errorf("%s:\n%s", fabric, r.Text())
				}
			}
		}
	}
}

// TestRun_Handover holds that nodes come to be in front only when the bootstrap machine leaves, and that
// no client fails.
func TestRun_Handover(t *testing.T) {
	for fabric := range racks.Fabrics() {
		for seed := range uint64(5) {
			c := simulated(t, fabric)
			c.Bootstrap = true
			r := Run(c, faults(t, c, seed, append(slices.Clone(installation), "60s end-api bootstrap")...))
			if r.Cost.Share > 0 || len(r.Broken) > 0 || r.Cost.Own != r.Cost.Flows {
				t.Errorf("%s, seed %d:\n%s", fabric, seed, r.Text())
			}
		}
	}
}

// TestRun_Alone holds that a host which has flapped, and waits for its next announcement, does not do so
// when it has become the only one that serves.
func TestRun_Alone(t *testing.T) {
	c := simulated(t, "two racks")
	c.Clients = schedule.Ingress
	var lines []string
	for _, at := range []string{"5s", "20s", "35s", "60s", "90s", "130s"} {
		lines = append(lines, at+" kill-router ingress-0 for 3s")
	}
	lines = append(lines, "length 200s", "132s power-off ingress-1", "132s power-off ingress-2")
	r := Run(c, faults(t, c, 1, lines...))
	if len(r.Broken) > 0 || r.Cost.Last[0] > 132*time.Second || r.Cost.Share == 0 {
		t.Error(r.Text())
	}
}

// TestRun_Circles holds that a circle in racks whose routers have different AS numbers names those.
func TestRun_Circles(t *testing.T) {
	f := racks.Fabrics()["two racks"]
	f.Apart = true
	c, err := schedule.Of(f.Plan(t), 3)
	if err != nil {
		t.Fatal(err)
	}
	c.Defect = schedule.Abrupt
	found := false
	for seed := range uint64(20) {
		for _, b := range Run(c, faults(t, c, seed, "2s upgrade master-1")).Broken {
			found = found || b.Rule == rules.Circles && strings.Contains(b.Why, "with one AS number for the routers of rack 0")
		}
	}
	if !found {
		t.Error("no circle is found")
	}
}

// TestDefects holds that each rule finds a defect of what it is about, in a schedule in which the
// sound product breaks none.
func TestDefects(t *testing.T) {
	for _, tt := range []struct {
		rule   string
		defect schedule.Defect
		joins  bool
		lines  []string
	}{
		{rules.Serves, schedule.Blind, false, []string{"2s kill-lb master-1", "2s kill-api master-1"}},
		{rules.Serves, schedule.Waiting, false, []string{"20s kill-api master-1", "30s kill-lb master-1"}},
		{rules.Announced, schedule.Forgetful, false, []string{"2s kill-speaker master-0", "2s kill-speaker master-1", "2s kill-speaker master-2"}},
		{rules.Last, schedule.Forgetful, false, []string{"2s kill-speaker master-1", "2s kill-speaker master-2", "40s upgrade master-0"}},
		{rules.Bootstrap, schedule.Equal, true, installation},
		{rules.Bootstrap, schedule.Ungated, true, installation},
		{rules.Address, schedule.Bare, false, []string{"2s kill-lb master-1", "2s kill-api master-1"}},
		{rules.Circles, schedule.Abrupt, false, []string{"2s upgrade master-1"}},
	} {
		broken := func(d schedule.Defect) (found bool) {
			c := simulated(t, "two racks")
			c.Defect, c.Bootstrap = d, tt.joins
			for seed := range uint64(20) {
				r := Run(c, faults(t, c, seed, tt.lines...))
				if d == schedule.Sound && len(r.Broken) > 0 {
					t.Errorf("%s: seed %d, no defect: %v", tt.rule, seed, r.Broken)
				}
				found = found || slices.ContainsFunc(r.Broken, func(b world.Broken) bool { return b.Rule == tt.rule })
			}
			return found
		}
		broken(schedule.Sound)
		if !broken(tt.defect) {
			t.Errorf("defect %d: the rule %q does not find it", tt.defect, tt.rule)
		}
	}
}

// some is how many schedules the normal run has in each fabric, and all how many the long one has in
// all of them.
const (
	some = 200
	all  = 100_000
)

// runAll runs random schedules on every processor, and reports what broke and what happened.
func runAll(t *testing.T, c schedule.Cluster, runs uint64) {
	t.Helper()
	var next atomic.Uint64
	var mu sync.Mutex
	var crowd sync.WaitGroup
	var broken []world.Result
	failed, unharmed := 0, 0
	for range runtime.GOMAXPROCS(0) {
		crowd.Go(func() {
			for seed := next.Add(1) - 1; seed < runs; seed = next.Add(1) - 1 {
				r := Run(schedule.Trial(seed, c))
				mu.Lock()
				if len(r.Broken) > 0 {
					if broken = append(broken, r); len(broken) > 5 {
						next.Store(runs)
					}
				}
				if r.Cost.Share > 0 {
					failed++
				} else {
					unharmed++
				}
				mu.Unlock()
			}
		})
	}
	crowd.Wait()
	for _, r := range broken {
		t.Errorf("%v\n%s", r.Schedule, r.Text())
	}
	t.Logf("clients failed in %d of %d runs", failed, runs)
	if uint64(failed) < runs/4 || uint64(unharmed) < runs/10 {
		t.Errorf("the schedules test little")
	}
}

// TestRandom runs random schedules in each fabric.
func TestRandom(t *testing.T) {
	for fabric := range racks.Fabrics() {
		t.Run(fabric, func(t *testing.T) { runAll(t, simulated(t, fabric), some) })
	}
}

// TestLongRandom runs as many as the claim is about.
func TestLongRandom(t *testing.T) {
	if os.Getenv("ONPREM_INFRA_LONG") == "" {
		t.Skip("set ONPREM_INFRA_LONG=1, as make e2e does")
	}
	for fabric := range racks.Fabrics() {
		t.Run(fabric, func(t *testing.T) {
			begin := time.Now()
			runAll(t, simulated(t, fabric), all/uint64(len(racks.Fabrics())))
			t.Log(time.Since(begin).Round(time.Second))
		})
	}
}

// BenchmarkRandom is a run of a random schedule.
func BenchmarkRandom(b *testing.B) {
	c := simulated(b, "two racks")
	b.ReportAllocs()
	for seed := uint64(0); b.Loop(); seed++ {
		Run(schedule.Trial(seed, c))
	}
}
