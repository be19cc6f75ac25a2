package pair_test

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

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/both"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/both/pair"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/both/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/rules"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/script"
	"github.com/onprem-infra/onprem-infra/test/racks"
)

func cluster(t testing.TB, fabric string) schedule.Cluster {
	t.Helper()
	f, ok := racks.Elected()[fabric]
	if !ok {
		t.Fatalf("there is no fabric %q", fabric)
	}
	c, err := both.ClusterOf(f.Plan(t), 3)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// run runs lines of a schedule with a seed.
func run(t testing.TB, c schedule.Cluster, seed uint64, lines ...string) pair.Result {
	t.Helper()
	s, err := schedule.Parse("length 60s\n" + strings.Join(lines, "\n"))
	if err == nil {
		s.Seed = seed
		c, err = both.ForSchedule(c, s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return pair.Run(c, s)
}

func text(r pair.Result) string {
	return r.Elections.Schedule.String() + r.Elections.Text() + r.Routed.Text() + strings.Join(r.Broken(), "\n")
}

// failed is how many requests of the client on the link failed.
func failed(r pair.Result) (n int) {
	for _, q := range r.Elections.Requests {
		if q.Outcome != "served" && q.At >= r.Elections.FirstFault() {
			n++
		}
	}
	return n
}

// TestRun_Equal holds that equal seeds give equal results.
func TestRun_Equal(t *testing.T) {
	for fabric := range racks.Elected() {
		for seed := range uint64(10) {
			a := pair.Run(schedule.Trial(seed, cluster(t, fabric)))
			if b := pair.Run(schedule.Trial(seed, cluster(t, fabric))); !reflect.DeepEqual(a, b) {
				t.Errorf("%s, seed %d:\n%s\nand then\n%s", fabric, seed, text(a), text(b))
			}
		}
	}
}

// TestRun_Holder holds that clients of both kinds go where the holder is: both fail when its power is
// cut, and neither when another node's is.
func TestRun_Holder(t *testing.T) {
	for fabric := range racks.Elected() {
		for seed := range uint64(5) {
			r := run(t, cluster(t, fabric), seed, "5s power-off holder")
			if failed(r) == 0 || r.Routed.Cost.Share < r.Routed.Cost.Flows*9/10 {
				t.Errorf("%s: the holder has lost its power:\n%s", fabric, text(r))
			}
			path := strings.Split(r.Elections.Path(), " → ")
			for _, name := range []string{"master-0", "master-1", "master-2"} {
				if name == path[0] {
					continue
				}
				if r := run(t, cluster(t, fabric), seed, "5s power-off "+name); r.Elections.LongestGap() > 200*time.Millisecond || r.Routed.Cost.Share > 0 {
					t.Errorf("%s, %s is not the holder:\n%s", fabric, name, text(r))
				}
			}
		}
	}
}

// TestRun_Migrates holds that no client of either kind loses a request when all nodes change, and that
// hosts announce after that, or do no more.
func TestRun_Migrates(t *testing.T) {
	for fabric := range racks.Elected() {
		for seed := range uint64(10) {
			for to, last := range map[string]string{schedule.ToBoth: "API VIP announced", schedule.ToVRRP: "API VIP idle"} {
				r := run(t, cluster(t, fabric), seed, "5s migrate "+to)
				phases := map[string]string{}
				for _, n := range r.Routed.Notes {
					phases[n.Where] = n.What
				}
				for _, name := range []string{"master-0", "master-1", "master-2"} {
					if phases[name] != last {
						t.Errorf("%s to %s: %s is %q\n%s", fabric, to, name, phases[name], text(r))
					}
				}
				spread := (fabric == "stretched" || fabric == "leaves apart") && to == schedule.ToVRRP && r.Routed.Cost.Dark[0] < 110*time.Millisecond
				if failed(r) > 0 || r.Routed.Cost.Share > 0 && !spread || len(r.Broken()) > 0 {
					t.Errorf("%s to %s:\n%s", fabric, to, text(r))
				}
			}
		}
	}
}

// TestRun_Handover holds that clients of both kinds lose nothing when the bootstrap machine leaves.
func TestRun_Handover(t *testing.T) {
	for fabric := range racks.Elected() {
		r := run(t, cluster(t, fabric), 1, "0s join master-0", "1s join master-1", "2s join master-2", "30s end-api bootstrap")
		if r.Routed.Cost.Share > 0 || len(r.Broken()) > 0 {
			t.Errorf("%s:\n%s", fabric, text(r))
		}
	}
}

// TestRun_Reboot holds that a holder which reboots leaves its routers before its programs end, and comes
// back behind the next holder.
func TestRun_Reboot(t *testing.T) {
	for fabric := range racks.Elected() {
		for seed := range uint64(5) {
			r := run(t, cluster(t, fabric), seed, "5s reboot holder for 2s")
			var phases []string
			for _, n := range r.Routed.Notes {
				phases = append(phases, strings.TrimPrefix(n.What, "API VIP "))
			}
			phases = slices.Compact(slices.DeleteFunc(phases, func(p string) bool { return p == "waiting" }))
			if want := []string{"demoted", "withdrawn", "idle", "announced"}; !slices.Equal(phases, want) {
				t.Errorf("%s: %v, want %v\n%s", fabric, phases, want, text(r))
			}
			if r.Routed.Cost.Share > 0 || r.Elections.Moves() != 1 || len(r.Broken()) > 0 {
				t.Errorf("%s:\n%s", fabric, text(r))
			}
		}
	}
}

// TestRun_Hangs holds that the address of a host whose bgpd hangs, just after it was given the VIP, stays
// until the routers have it no more, though all hosts end announcing.
func TestRun_Hangs(t *testing.T) {
	for seed := range uint64(20) {
		r := run(t, cluster(t, "stretched"), seed, "5.4s migrate both", "5.9s migrate vrrp", "6.6s stop-bgpd master-1 for 9s")
		if len(r.Broken()) > 0 {
			t.Error(text(r))
		}
	}
}

// TestDefects holds that each rule of both sides finds a defect, in schedules in which the sound product
// breaks none.
func TestDefects(t *testing.T) {
	for _, tt := range []struct {
		rule   string
		defect schedule.Defect
		line   string
	}{
		{rules.Front, schedule.Blind, "5s power-off holder"},
		{rules.Ends, schedule.Early, "5s migrate vrrp"},
	} {
		for _, d := range []schedule.Defect{schedule.Sound, tt.defect} {
			c, found := cluster(t, "leaves apart"), false
			c.Defect = d
			for seed := range uint64(10) {
				r := run(t, c, seed, tt.line)
				found = found || slices.ContainsFunc(r.Broken(), func(b string) bool { return strings.Contains(b, tt.rule) })
			}
			if found != (d == tt.defect) {
				t.Errorf("%s, defect %d: found is %t", tt.rule, d, found)
			}
		}
	}
}

// some is how many schedules the normal run has in each fabric, and all how many the long one has in
// all of them.
const (
	some = 150
	all  = 100_000
)

// runAll runs random schedules on every processor.
func runAll(t *testing.T, c schedule.Cluster, runs uint64) {
	t.Helper()
	var next atomic.Uint64
	var mu sync.Mutex
	var crowd sync.WaitGroup
	var broken []pair.Result
	kinds := map[script.Kind]bool{}
	for range runtime.GOMAXPROCS(0) {
		crowd.Go(func() {
			for seed := next.Add(1) - 1; seed < runs; seed = next.Add(1) - 1 {
				r := pair.Run(schedule.Trial(seed, c))
				mu.Lock()
				for _, f := range r.Elections.Schedule.Faults {
					kinds[f.Kind] = true
				}
				if len(r.Broken()) > 0 {
					if broken = append(broken, r); len(broken) > 5 {
						next.Store(runs)
					}
				}
				mu.Unlock()
			}
		})
	}
	crowd.Wait()
	for _, r := range broken {
		t.Error(text(r))
	}
	for _, k := range schedule.Kinds() {
		if !kinds[k] && k != "kill-dns" && len(broken) == 0 {
			t.Errorf("no schedule has %s", k)
		}
	}
}

// TestRandom runs random schedules in each fabric.
func TestRandom(t *testing.T) {
	for fabric := range racks.Elected() {
		t.Run(fabric, func(t *testing.T) { runAll(t, cluster(t, fabric), some) })
	}
}

// TestLongRandom runs as many as the claim is about.
func TestLongRandom(t *testing.T) {
	if os.Getenv("ONPREM_INFRA_LONG") == "" {
		t.Skip("set ONPREM_INFRA_LONG=1, as make e2e does")
	}
	for fabric := range racks.Elected() {
		t.Run(fabric, func(t *testing.T) { runAll(t, cluster(t, fabric), all/uint64(len(racks.Elected()))) })
	}
}

// BenchmarkRandom is a run of a random schedule.
func BenchmarkRandom(b *testing.B) {
	c := cluster(b, "one rack")
	b.ReportAllocs()
	for seed := uint64(0); b.Loop(); seed++ {
		pair.Run(schedule.Trial(seed, c))
	}
}
