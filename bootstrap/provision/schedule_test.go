package provision

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/test/fakeironic"
)

// fault is one thing that happens to a run.
type fault struct {
	at   time.Duration
	what string
	do   func(*rig)
}

// schedule is what happens in a run, from its seed.
func schedule(random *rand.Rand) (all []fault) {
	add := func(what string, latest time.Duration, do func(*rig)) {
		all = append(all, fault{time.Duration(random.Int64N(int64(latest))).Truncate(time.Second), what, do})
	}
	var database []fakeironic.Node
	for range 1 + random.IntN(4) {
		switch random.IntN(9) {
		case 0, 1, 2: // the commonest of all
			add("power cut", 8*time.Minute, func(r *rig) { r.cut() })
		case 3:
			add("Ironic's database is lost", 8*time.Minute, func(r *rig) { r.cut(); r.world.Lose() })
		case 4:
			add("a snapshot of the database", 4*time.Minute, func(r *rig) { database = r.world.Snapshot() })
			add("power cut, the database is that of before", 8*time.Minute, func(r *rig) {
				if r.cut(); database != nil {
					r.world.Restore(database)
				}
			})
		case 5:
			add("Ironic restarts", 8*time.Minute, func(r *rig) { r.world.Stop() })
		case 6:
			m := random.IntN(3)
			add(fmt.Sprintf("power of machine %d flaps", m), 8*time.Minute, func(r *rig) {
				if mm := r.world.Machines[m]; mm.Joined.IsZero() {
					mm.Power(r.world.Now, false, false)
				}
			})
		case 7:
			m := random.IntN(3)
			add(fmt.Sprintf("BMC password of machine %d changes", m), 4*time.Minute, func(r *rig) { r.world.Machines[m].Password = "new" })
			if random.IntN(2) == 0 {
				add("the password is corrected", 20*time.Minute, func(r *rig) {
					r.passwords[r.world.Machines[m].Name], r.revision = r.world.Machines[m].Password, r.revision+"x"
				})
			}
		case 8:
			m := random.IntN(3)
			add(fmt.Sprintf("machine %d loses boots", m), time.Second, func(r *rig) { r.world.Machines[m].Lost = 1 + random.IntN(2) })
			add(fmt.Sprintf("machine %d fails to write", m), time.Second, func(r *rig) { r.world.Machines[m].Broken = random.IntN(2) })
		}
	}
	return all
}

// TestSchedules runs installations through power cuts, restarts, lost databases, faults of BMCs and
// machines, and kills of the program before and after any effect. Whatever happens: no disk is
// written twice or after its host has joined, DHCP never begins again, and each run ends with all
// hosts deployed or a named blocker.
func TestSchedules(t *testing.T) {
	const seeds = 100
	deployed, restarts := 0, 0
	for seed := range uint64(seeds) {
		r := newRig(seed)
		r.kills = seed%2 == 0
		random := rand.New(rand.NewPCG(seed, 16))
		faults := schedule(random)
		var back time.Time
		lastCut := time.Duration(0)
		ended := r.until(t.Context(), 6*time.Hour, func() bool {
			now := r.world.Now.Sub(begin)
			for i, f := range faults {
				if f.do != nil && now >= f.at && !r.off {
					f.do(r)
					faults[i].do = nil
					lastCut = now
				}
			}
			switch {
			case r.off && back.IsZero():
				restarts++
				back = r.world.Now.Add(time.Duration(20+random.IntN(100)) * time.Second)
			case r.off && !r.world.Now.Before(back):
				back = time.Time{}
				r.boot()
			}
			for _, f := range faults {
				if f.do != nil {
					return false
				}
			}
			return now > lastCut+time.Minute && r.done()
		})
		for _, b := range r.broken() {
			t.Errorf("seed %d: %s", seed, b)
		}
		if !ended {
			t.Errorf("seed %d: no end: %+v", seed, r.shown)
		}
		if r.shown.Phase == progress.Ended {
			deployed++
		}
		for _, h := range r.shown.Hosts {
			if h.Blocker != "" {
				t.Logf("seed %d: %s: %s", seed, h.Name, h.Blocker)
			}
		}
		if t.Failed() {
			for _, f := range faults {
				t.Logf("%v %s", f.at, f.what)
			}
			t.Fatalf("%s", r.file)
		}
	}
	t.Logf("%d of %d runs ended with all hosts deployed, the others with a named blocker; %d power cuts", deployed, seeds, restarts)
	if deployed < seeds/2 || restarts < seeds/2 {
		t.Errorf("%d runs deployed, %d power cuts: the schedules test little", deployed, restarts)
	}
}
