package engine

import (
	"fmt"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/rules"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/world"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/test/provisioned"
)

func simulated(t testing.TB, sharing string) schedule.Cluster {
	t.Helper()
	c, err := schedule.Of(provisioned.Plan(t, sharing))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// faults is a schedule of a text, without a seed.
func faults(t *testing.T, c schedule.Cluster, text string) schedule.Schedule {
	t.Helper()
	s, err := schedule.Parse(text)
	if err == nil {
		err = c.Check(s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRun holds that an installation without a fault ends with every host, in the order of phases and
// steps, and that workers begin after the bootstrap machine has ended.
func TestRun(t *testing.T) {
	for sharing := range provisioned.Sharings() {
		c := simulated(t, sharing)
		for seed := range uint64(20) {
			r := Run(c, schedule.Schedule{Seed: seed})
			if r.Joined < 0 || r.Wasted > 0 || len(r.Broken)+len(r.Blocked)+r.Rewritten > 0 {
				t.Fatalf("%s, seed %d:\n%s", sharing, seed, r.Text())
			}
			var last time.Duration
			for _, p := range progress.Phases()[1:] {
				at, ok := r.Marks[schedule.PhaseMark(p)]
				if !ok || at < last {
					t.Errorf("%s, seed %d: the phase %s begins at %v, the one before it at %v", sharing, seed, p, at, last)
				}
				last = at
			}
			for _, h := range c.Workers() {
				for _, s := range schedule.Steps() {
					at, ok := r.Marks[schedule.Mark(h.Name, s)]
					if !ok || at < last {
						t.Errorf("%s, seed %d: %s is at %s at %v, the bootstrap machine has ended at %v", sharing, seed, h.Name, s, at, last)
					}
				}
			}
		}
	}
}

// TestRun_Equal holds that equal seeds give equal results, though requests for several hosts are made
// at the same time.
func TestRun_Equal(t *testing.T) {
	c := simulated(t, "one")
	for seed := range uint64(20) {
		s := schedule.Random(seed, c)
		if a, b := Run(c, s), Run(simulated(t, "one"), s); !reflect.DeepEqual(a, b) {
			t.Errorf("seed %d:\n%s\nand then\n%s", seed, a.Text(), b.Text())
		}
	}
}

// TestDefects holds that each rule finds a defect of what it is about, in a schedule in which the
// sound product breaks none.
func TestDefects(t *testing.T) {
	for _, tt := range []struct {
		rule     string
		sharing  string
		defect   schedule.Defect
		schedule string
	}{
		{rules.OneAnswer, "one", schedule.OtherAnswers, ""},
		{rules.OwnPhase, "one", schedule.Unfiltered, "deploy+30s stray-boot worker-0"},
		{rules.OwnPhase, "two", schedule.TooEarly, "master-2:called+5s power-off master-2 for 5m0s"},
		{rules.OneAnswer, "two", schedule.TooEarly, "master-2:called+5s power-off master-2 for 5m0s"},
		{rules.WrittenOne, "one", schedule.Forgetful, "master-0:system+1s power-off bootstrap for 30s"},
		{rules.OneServer, "one", schedule.Unwatched, "master-2:called+5s power-off master-2 for 5m0s"},
		{rules.OneServer, "two", schedule.TooEarly, "master-2:called+5s power-off master-2 for 5m0s"},
		{rules.WithIP, "one", schedule.Unfenced, "taken+1m0s move-ironic pod"},
		{rules.Ends, "one", schedule.Stuck, "deploy+1m0s power-off bootstrap for 30s\n1s kill-phases bootstrap for 1s"},
		{rules.SameEnd, "one", schedule.Stuck, "deploy+1m0s power-off bootstrap for 30s"},
		{rules.OneAddress, "one", schedule.Unwatched, "master-2:called+5s power-off master-2 for 5m0s"},
		{rules.OneServer, "two", schedule.Uncounted, cutOff},
		{rules.Resumed, "one", schedule.Spent, "takeover+5s take-back bootstrap for 10m0s"},
		{rules.Resumed, "two", schedule.Spent, "takeover+5s take-back bootstrap for 10m0s"},
	} {
		c := simulated(t, tt.sharing)
		broken := func(d schedule.Defect) (found bool) {
			c.Defect = d
			for seed := range uint64(20) {
				s := faults(t, c, tt.schedule)
				s.Seed = seed
				r := Run(c, s)
				if d == schedule.Sound && len(r.Broken) > 0 {
					t.Errorf("%s: seed %d, no defect: %v", tt.rule, seed, r.Broken)
				}
				found = found || slices.ContainsFunc(r.Broken, func(b world.Broken) bool { return b.Rule == tt.rule })
			}
			return found
		}
		broken(schedule.Sound)
		if !broken(tt.defect) {
			t.Errorf("defect %d, %s: the rule %q does not find it", tt.defect, tt.sharing, tt.rule)
		}
	}
}

// cutOff is a handover that is led back while the node with the cluster's Ironic is cut off, with
// its pod: no program can end that, and its switch works again later.
const cutOff = "taken+100ms cut-off holder for 10m0s\ntaken+5s take-back bootstrap for 8m0s"

// TestTakeBack holds that provisioning is taken back in each phase of the handover, with the cluster's
// Ironic stopped before or not begun, and that all hosts join after it is handed over again.
func TestTakeBack(t *testing.T) {
	for sharing := range provisioned.Sharings() {
		c := simulated(t, sharing)
		for _, p := range progress.Phases() {
			if !p.HandsOver() {
				continue
			}
			taken := 0
			for seed := range uint64(20) {
				s := faults(t, c, schedule.PhaseMark(p)+"+100ms take-back bootstrap for 5m0s")
				s.Seed = seed
				r := Run(c, s)
				if len(r.Broken) > 0 || r.Joined < 0 || r.Rewritten > 0 || r.TakenBack > 1 {
					t.Fatalf("%s, %s, seed %d, taken back %d times:\n%s", sharing, p, seed, r.TakenBack, r.Text())
				}
				taken += r.TakenBack
			}
			if taken < 15 {
				t.Errorf("%s, %s: taken back in %d of 20 runs", sharing, p, taken)
			}
		}
		for seed := range uint64(20) { // the first host has begun
			s := faults(t, c, "release+15s take-back bootstrap for 5m0s")
			s.Seed = seed
			if r := Run(c, s); len(r.Broken) > 0 || r.Joined < 0 || r.TakenBack > 0 {
				t.Fatalf("%s, hosts have begun, seed %d, taken back %d times:\n%s", sharing, seed, r.TakenBack, r.Text())
			}
		}
	}
}

// TestTakeBack_CutOff holds that nothing is taken back while a pod of the cluster's Ironic may still run
// on a node that Kubernetes does not reach, and that all hosts join all the same.
func TestTakeBack_CutOff(t *testing.T) {
	for sharing := range provisioned.Sharings() {
		c := simulated(t, sharing)
		for seed := range uint64(50) {
			// What was asked for is void before the node is back.
			s := faults(t, c, "taken+100ms cut-off holder for 10m0s\ntaken+5s take-back bootstrap for 3m0s")
			s.Seed = seed
			if r := Run(c, s); len(r.Broken) > 0 || r.Joined < 0 || r.TakenBack > 0 {
				t.Fatalf("%s, seed %d, taken back %d times:\n%s", sharing, seed, r.TakenBack, r.Text())
			}
		}
	}
}

// TestTakeBack_Started holds that the address stays with one machine where a program of the user's starts
// the cluster's Ironic again that was stopped, at any time while provisioning is taken back.
func TestTakeBack_Started(t *testing.T) {
	c := simulated(t, "one")
	taken := 0
	for seed := range uint64(200) {
		s := faults(t, c, fmt.Sprintf("takeover+5s take-back bootstrap for 6m0s\ntaken-back+%ds start-ironic pod", seed))
		s.Seed = seed
		r := Run(c, s)
		if len(r.Broken) > 0 || r.Joined < 0 {
			t.Fatalf("seed %d:\n%s", seed, r.Text())
		}
		taken += r.TakenBack
	}
	if taken < 150 {
		t.Errorf("taken back in %d of 200 runs", taken)
	}
}

// TestOccupied holds that nodes leave the address to the bootstrap machine until it has ended, also
// where their Ironic runs before.
func TestOccupied(t *testing.T) {
	c := simulated(t, "one")
	c.Defect = schedule.TooEarly
	for seed := range uint64(100) {
		s := faults(t, c, "master-2:called+5s power-off master-2 for 5m0s")
		s.Seed = seed
		r := Run(c, s)
		if len(r.Broken) > 0 || r.Joined < 0 || r.Marks[schedule.Taken] < r.Marks["address-off"] {
			t.Errorf("seed %d:\n%s", seed, r.Text())
		}
	}
}

// TestDoubt holds in which way the end after a power cut may differ: a host in the midst of whose
// deployment the bootstrap machine lost its power is named, with what a person can do.
func TestDoubt(t *testing.T) {
	c := simulated(t, "one")
	named := 0
	for seed := range uint64(300) {
		s := faults(t, c, "master-0:writing+1s power-off bootstrap for 30s")
		s.Seed = seed
		r := Run(c, s)
		if len(r.Broken) > 0 {
			t.Fatalf("seed %d:\n%s", seed, r.Text())
		}
		if r.Joined < 0 {
			named++
		}
	}
	if named == 0 || named > 30 {
		t.Errorf("%d of 300 runs end with a host that is named", named)
	}
}

// some is how many schedules the normal run has of each kind of cluster, and all how many the long one
// has of the kinds together: of whole installations, and as many of what comes after the handover.
const (
	some = 1000
	all  = 100_000
)

// runAll runs random schedules on every processor, and reports what broke and what happened.
func runAll(t *testing.T, c schedule.Cluster, runs uint64, random func(uint64, schedule.Cluster) schedule.Schedule) (named, takenBack int) {
	t.Helper()
	var next atomic.Uint64
	var mu sync.Mutex
	var crowd sync.WaitGroup
	var broken []world.Result
	joined, rewritten := 0, 0
	for range runtime.GOMAXPROCS(0) {
		crowd.Go(func() {
			for seed := next.Add(1) - 1; seed < runs; seed = next.Add(1) - 1 {
				r := Run(c, random(seed, c))
				mu.Lock()
				if len(r.Broken) > 0 {
					if broken = append(broken, r); len(broken) > 5 {
						next.Store(runs)
					}
				}
				if rewritten += r.Rewritten; r.Joined >= 0 {
					joined++
				}
				if takenBack += r.TakenBack; len(r.Blocked) > 0 {
					named++
				}
				mu.Unlock()
			}
		})
	}
	crowd.Wait()
	for _, r := range broken {
		t.Errorf("%v\n%s", r.Schedule, r.Text())
	}
	t.Logf("%d of %d runs ended with all hosts, %d with a host that is named; %d disks rewritten by metal3; taken back %d times", joined, runs, named, rewritten, takenBack)
	if uint64(joined) < runs*9/10 {
		t.Errorf("the schedules test little")
	}
	return named, takenBack
}

// runBoth runs random schedules on both kinds of cluster: of the whole, and of what comes after the
// handover.
func runBoth(t *testing.T, runs uint64) {
	t.Helper()
	for sharing := range provisioned.Sharings() {
		begin, c := time.Now(), simulated(t, sharing)
		if named, back := runAll(t, c, runs, schedule.Random); named == 0 || uint64(back) < runs/50 {
			t.Errorf("the schedules test little")
		}
		t.Logf("address %s: %v", sharing, time.Since(begin).Round(time.Second))
		if named, _ := runAll(t, c, runs, schedule.RandomAfter); named > 0 {
			t.Errorf("after the handover %d runs end with a host that is named", named)
		}
		t.Logf("address %s, after the handover too: %v", sharing, time.Since(begin).Round(time.Second))
	}
}

// TestStrayBoot holds that a host which has joined, and which somebody boots from the network, boots its
// disk. Ironic still waits for its ramdisk in this run: the host would stay there.
func TestStrayBoot(t *testing.T) {
	c := simulated(t, "two")
	r := Run(c, schedule.Random(29093, c))
	text := r.Text()
	if _, after, _ := strings.Cut(text, "s  master-1     stray-boot"); len(r.Broken) > 0 || !strings.Contains(after, "master-1     ends the network boot") {
		t.Errorf("the host does not boot its disk:\n%s", text)
	}
}

// TestRandom runs random schedules on both kinds of cluster.
func TestRandom(t *testing.T) { runBoth(t, some) }

// TestLongRandom runs as many as the claim is about.
func TestLongRandom(t *testing.T) {
	if os.Getenv("ONPREM_INFRA_LONG") == "" {
		t.Skip("set ONPREM_INFRA_LONG=1, as make e2e does")
	}
	runBoth(t, all/uint64(len(provisioned.Sharings())))
}

// BenchmarkRandom is a run of a random schedule.
func BenchmarkRandom(b *testing.B) {
	c := simulated(b, "one")
	b.ReportAllocs()
	for seed := uint64(0); b.Loop(); seed++ {
		Run(c, schedule.Random(seed, c))
	}
}
