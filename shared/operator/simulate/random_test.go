package simulate

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// normal is how many schedules the normal run plays under each profile, and all is how many the
// long one plays in all.
const (
	normal = 2500
	all    = 100_000
)

// play plays schedules on every processor, and stops soon after enough rules were broken.
func play(c Cluster, from, to uint64, enough int) (broken []Result) {
	var next atomic.Uint64
	next.Store(from)
	var mu sync.Mutex
	var crowd sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		crowd.Go(func() {
			for seed := next.Add(1) - 1; seed < to; seed = next.Add(1) - 1 {
				if r := Run(Trial(seed, c)); len(r.Broken) > 0 {
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
func named(timing vrrp.Timing) Cluster {
	c := Of(timing)
	c.Policy = c.Policy.WithDNS()
	return c
}

// TestRandomDNS holds every rule where the cluster has a DNS VIP too, which follows other checks.
func TestRandomDNS(t *testing.T) {
	for _, timing := range vrrp.Profiles() {
		about := 0
		for seed := range uint64(normal / 2) {
			c, s := Trial(seed, named(timing))
			if c.Kind != vrrp.DNS {
				continue
			}
			about++
			if r := Run(c, s); len(r.Broken) > 0 {
				t.Fatalf("%s: %v\n%d masters, bootstrap %t:\n%s", timing.Profile, r.Broken[0], c.Masters, c.Bootstrap, s)
			}
		}
		if about < normal/20 {
			t.Errorf("%s: %d schedules are about it", timing.Profile, about)
		}
	}
}

// TestRandom holds every rule under schedules by chance, under every profile. ONPREM_INFRA_LONG
// plays a hundred thousand, and holds that this takes less than a minute.
func TestRandom(t *testing.T) {
	long := os.Getenv("ONPREM_INFRA_LONG") != ""
	begin := time.Now()
	for i, timing := range vrrp.Profiles() {
		count := uint64(normal)
		if long {
			count = all / 3
			if i == 0 {
				count = all - 2*(all/3)
			}
		}
		for _, r := range play(Of(timing), 0, count, 3) {
			t.Errorf("%s: %v\n%s, %d masters, %d workers, bootstrap %t:\n%s", timing.Profile, r.Broken[0], r.Cluster.Kind, r.Cluster.Masters,
				r.Cluster.Workers, r.Cluster.Bootstrap, r.Schedule)
		}
	}
	if took := time.Since(begin); long {
		t.Logf("%d schedules in %v on %d processors", all, took.Round(time.Millisecond), runtime.GOMAXPROCS(0))
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
		defect func(*Cluster)
		rule   Rule
	}{
		{"the gate", func(c *Cluster) { c.Ungated = true }, Gate},
		{"the holder's bonus", func(c *Cluster) { c.Policy.ControlPlane.Holder = 0 }, NoNeed},
		{"the ranks", func(c *Cluster) { c.Policy.ControlPlane.Ranks = nil }, OneTaker},
		{"one rank", func(c *Cluster) { c.Policy.ControlPlane.Ranks = []int{24, 24, 12, 6, 0} }, OneTaker},
		{"the bootstrap's distance", func(c *Cluster) { c.Policy.Bootstrap = c.Policy.ControlPlane.Base + 1 }, Stays},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, profile := range []string{vrrp.ProfileLan, vrrp.ProfileVM} {
				timing, _ := vrrp.TimingOf(profile)
				c := Of(timing)
				tt.defect(&c)
				found := 0
				for _, r := range play(c, 0, normal, normal) {
					for _, b := range r.Broken {
						if b.Rule == tt.rule {
							found++
						}
					}
				}
				t.Logf("%s: found %d times", profile, found)
				if found == 0 {
					t.Errorf("%s: %d schedules, and nobody missed it", profile, normal)
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
	s := Schedule{Length: 25 * time.Second}
	for i := 1; i <= 2; i++ {
		s.Faults = append(s.Faults,
			Fault{At: ill, Kind: KillLB, Host: masterName(i)}, Fault{At: ill, Kind: KillAPI, Host: masterName(i)})
	}
	for i := 1; i <= 2; i++ {
		s.Faults = append(s.Faults, Fault{At: begin, Kind: KillVRRP, Host: masterName(i)})
	}
	s.Faults = append(s.Faults, Fault{At: alone, Kind: PowerOff, Host: masterName(0)})
	for _, profile := range []string{vrrp.ProfileLan, vrrp.ProfileVM} {
		timing, _ := vrrp.TimingOf(profile)
		for base, wrong := range map[vrrp.Priority]bool{timing.Policy().ControlPlane.Base: false, 1: true} {
			c, found := Of(timing), 0
			c.Policy.ControlPlane.Base = base
			for s.Seed = range uint64(50) {
				r := Run(c, s)
				if n := r.moves(); n == 0 {
					t.Fatalf("%s, seed %d: nobody took the VIP", profile, s.Seed)
				}
				for _, b := range r.Broken {
					if b.Rule == OneTaker {
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

// TestEqual holds that a seed can be played again.
func TestEqual(t *testing.T) {
	for seed := range uint64(50) {
		c, s := Trial(seed, Of(vrrp.CompatTiming()))
		c.Client = ClientPace
		read, err := ParseSchedule(s.String())
		if err != nil {
			t.Fatal(err)
		}
		if a, b := Run(c, s), Run(c, read); !equal(a, b) {
			t.Fatalf("seed %d went two ways", seed)
		}
	}
}

// TestMoreNodesThanRanks holds that no two nodes take the VIP at once where there are more nodes
// than ranks, also when all those of a better rank are lost.
func TestMoreNodesThanRanks(t *testing.T) {
	timing, _ := vrrp.TimingOf(vrrp.ProfileLan)
	c := Of(timing)
	c.Masters = 7
	faults := []Fault{}
	for i := range 4 {
		faults = append(faults, Fault{At: 5 * time.Second, Kind: PowerOff, Host: masterName(i)})
	}
	moved := 0
	for seed := range uint64(100) {
		r := Run(c, Schedule{Seed: seed, Length: 20 * time.Second, Faults: faults})
		if len(r.Broken) > 0 {
			t.Fatalf("seed %d: %v", seed, r.Broken[0])
		}
		moved += r.moves()
	}
	if moved == 0 {
		t.Error("the VIP never moved, so that this shows nothing")
	}
}
