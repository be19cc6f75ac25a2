package engine

import (
	"os"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/trace"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// some is how many schedules the normal run has under each profile, and all is how many the
// long one has in all.
const (
	some = 2500
	all  = 100_000
)

// runAll runs schedules on every processor, and stops soon after enough rules were broken.
func runAll(c schedule.Cluster, from, to uint64, enough int) (broken []trace.Result) {
	var next atomic.Uint64
	next.Store(from)
	var mu sync.Mutex
	var crowd sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		crowd.Go(func() {
			for seed := next.Add(1) - 1; seed < to; seed = next.Add(1) - 1 {
				if r := Run(schedule.Trial(seed, c)); len(r.Broken) > 0 {
					mu.Lock()
					broken = append(broken, r)
					done := len(broken) >= enough
					mu.Unlock()
					if done {
						next.Store(to)
					}
				}
			}
		})
	}
	crowd.Wait()
	return broken
}

// named is a cluster in which some elections are about the DNS VIP.
func named(timing vrrp.Timing) schedule.Cluster {
	c := schedule.Of(timing)
	c.Policy = c.Policy.WithDNS()
	return c
}

// TestRandomDNS holds every rule where the cluster has a DNS VIP too, which follows other checks.
func TestRandomDNS(t *testing.T) {
	for _, timing := range vrrp.Profiles() {
		about := 0
		for seed := range uint64(some / 2) {
			c, s := schedule.Trial(seed, named(timing))
			if c.Kind != vrrp.DNS {
				continue
			}
			about++
			if r := Run(c, s); len(r.Broken) > 0 {
				t.Fatalf("%s: %v\n%d masters, bootstrap %t:\n%s", timing.Profile, r.Broken[0],
					c.Masters, c.Bootstrap, s)
			}
		}
		if about < some/20 {
			t.Errorf("%s: %d schedules are about it", timing.Profile, about)
		}
	}
}

// TestRandom holds every rule under random schedules, under every profile. ONPREM_INFRA_LONG
// runs a hundred thousand, and holds that this takes less than a minute.
func TestRandom(t *testing.T) {
	long := os.Getenv("ONPREM_INFRA_LONG") != ""
	begin := time.Now()
	for i, timing := range vrrp.Profiles() {
		count := uint64(some)
		if long {
			count = all / 3
			if i == 0 {
				count = all - 2*(all/3)
			}
		}
		for _, r := range runAll(schedule.Of(timing), 0, count, 3) {
			t.Errorf("%s: %v\n%s, %d masters, %d workers, bootstrap %t:\n%s", timing.Profile,
				r.Broken[0], r.Cluster.Kind, r.Cluster.Masters, r.Cluster.Workers,
				r.Cluster.Bootstrap, r.Schedule)
		}
	}
	if took := time.Since(begin); long {
		t.Logf("%d schedules in %v on %d processors", all, took.Round(time.Millisecond),
			runtime.GOMAXPROCS(0))
		if took > time.Minute {
			t.Errorf("%d schedules took %v", all, took)
		}
	}
}

// TestDefects takes out of the policy, one at a time, what its rules rest on. The normal run must
// find each of them, by the rule that is about it.
func TestDefects(t *testing.T) {
	for _, tt := range []struct {
		name   string
		defect func(*schedule.Cluster)
		rule   trace.Rule
	}{
		{"the gate", func(c *schedule.Cluster) { c.Ungated = true }, trace.Gate},
		{"the holder's bonus", func(c *schedule.Cluster) { c.Policy.ControlPlane.Holder = 0 }, trace.NoNeed},
		{"the ranks", func(c *schedule.Cluster) { c.Policy.ControlPlane.Ranks = nil }, trace.OneTaker},
		{"one rank", func(c *schedule.Cluster) { c.Policy.ControlPlane.Ranks = []int{24, 24, 12, 6, 0} }, trace.OneTaker},
		{"the bootstrap's distance", func(c *schedule.Cluster) { c.Policy.Bootstrap = c.Policy.ControlPlane.Base + 1 }, trace.Stays},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, profile := range []string{vrrp.ProfileLan, vrrp.ProfileVM} {
				timing, _ := vrrp.TimingOf(profile)
				c := schedule.Of(timing)
				tt.defect(&c)
				found := 0
				for _, r := range runAll(c, 0, some, some) {
					for _, b := range r.Broken {
						if b.Rule == tt.rule {
							found++
						}
					}
				}
				t.Logf("%s: found %d times", profile, found)
				if found == 0 {
					t.Errorf("%s: %d schedules, and none breaks the rule", profile, some)
				}
			}
		})
	}
}

// TestBeginTogether has two nodes on which nothing works begin at one time, and lose their holder
// before they have settled: the one of the better rank takes the VIP alone. With a base that is not
// above the bonus both would be cut to one priority, and take it at once.
func TestBeginTogether(t *testing.T) {
	const ill, begin, alone = time.Second, 20 * time.Second, 20*time.Second + 250*time.Millisecond
	s := schedule.Schedule{Length: 25 * time.Second}
	for i := 1; i <= 2; i++ {
		s.Faults = append(
			s.Faults,
			schedule.Fault{
				At:   ill,
				Kind: schedule.KillLB,
				Host: schedule.MasterName(i),
			},
			schedule.Fault{At: ill, Kind: schedule.KillAPI, Host: schedule.MasterName(i)},
		)
	}
	for i := 1; i <= 2; i++ {
		s.Faults = append(s.Faults,
			schedule.Fault{At: begin, Kind: schedule.KillVRRP, Host: schedule.MasterName(i)})
	}
	s.Faults = append(s.Faults,
		schedule.Fault{At: alone, Kind: schedule.PowerOff, Host: schedule.MasterName(0)})
	for _, profile := range []string{vrrp.ProfileLan, vrrp.ProfileVM} {
		timing, _ := vrrp.TimingOf(profile)
		for base, wrong := range map[vrrp.Priority]bool{timing.Policy().ControlPlane.Base: false, 1: true} {
			c, found := schedule.Of(timing), 0
			c.Policy.ControlPlane.Base = base
			for s.Seed = range uint64(50) {
				r := Run(c, s)
				if n := r.Moves(); n == 0 {
					t.Fatalf("%s, seed %d: no host took the VIP", profile, s.Seed)
				}
				for _, b := range r.Broken {
					if b.Rule == trace.OneTaker {
						found++
					}
					if !wrong {
						t.Errorf("%s, base %d, seed %d: %v", profile, base, s.Seed, b)
					}
				}
			}
			if wrong && found == 0 {
				t.Errorf("%s: with base %d no two took the VIP at once", profile, base)
			}
		}
	}
}

// TestMoreNodesThanRanks holds that no two nodes take the VIP at once where there are more nodes
// than ranks, also when all those of a better rank are lost.
func TestMoreNodesThanRanks(t *testing.T) {
	timing, _ := vrrp.TimingOf(vrrp.ProfileLan)
	c := schedule.Of(timing)
	c.Masters = 7
	faults := []schedule.Fault{}
	for i := range 4 {
		faults = append(
			faults,
			schedule.Fault{
				At:   5 * time.Second,
				Kind: schedule.PowerOff,
				Host: schedule.MasterName(i),
			},
		)
	}
	moved := 0
	for seed := range uint64(100) {
		r := Run(c, schedule.Schedule{Seed: seed, Length: 20 * time.Second, Faults: faults})
		if len(r.Broken) > 0 {
			t.Fatalf("seed %d: %v", seed, r.Broken[0])
		}
		moved += r.Moves()
	}
	if moved == 0 {
		t.Error("the VIP never moved, so that this shows nothing")
	}
}

// TestEqual holds that a seed repeats its run.
func TestEqual(t *testing.T) {
	for seed := range uint64(50) {
		c, s := schedule.Trial(seed, schedule.Of(vrrp.CompatTiming()))
		c.Client = schedule.ClientPace
		read, err := schedule.Parse(s.String())
		if err != nil {
			t.Fatal(err)
		}
		if a, b := Run(c, s), Run(c, read); !equal(a, b) {
			t.Fatalf("seed %d went two ways", seed)
		}
	}
}

// equal reports whether two runs went the same way.
func equal(a, b trace.Result) bool {
	return slices.Equal(a.Requests, b.Requests) && slices.Equal(a.Notes, b.Notes) &&
		slices.Equal(a.Broken, b.Broken) &&
		reflect.DeepEqual(a.Holders, b.Holders)
}
