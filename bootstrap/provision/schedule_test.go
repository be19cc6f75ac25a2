package provision

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/shared/rootdisk"
	"github.com/onprem-infra/onprem-infra/test/fakeironic"
)

// fault is one thing that happens to a run: at a time, or so long after a phase has begun.
type fault struct {
	at    time.Duration
	phase progress.Phase
	what  string
	do    func(*rig)
}

// due reports whether the fault happens now.
func (f fault) due(now time.Time, began map[progress.Phase]time.Time) bool {
	from := begin
	if f.phase != "" {
		from = began[f.phase]
	}
	return f.do != nil && !from.IsZero() && !now.Before(from.Add(f.at))
}

// The words by which the faults are counted.
const (
	powerCut   = "power cut"
	lostData   = "Ironic's database is lost"
	formerData = "power cut, the database is that of before"
	ironicEnds = "Ironic is killed"
	flap       = "the power of a machine flaps"
	password   = "the password of a BMC changes"
	lostBoot   = "a machine loses boots"
	badDisk    = "a machine fails to write"
	foreign    = "another DHCP server answers"
	wrongHint  = "the hints of the root disk are wrong"
	diskFull   = "the disk is full"
	cable      = "the cable is pulled"
)

// faults are all of them.
var faults = []string{powerCut, lostData, formerData, ironicEnds, flap, password, lostBoot, badDisk, foreign, wrongHint, diskFull, cable}

// schedule is what happens in a run, from its seed.
func schedule(random *rand.Rand) (all []fault) {
	within := func(d time.Duration) time.Duration {
		return time.Duration(random.Int64N(int64(d))).Truncate(time.Second)
	}
	add := func(what string, latest time.Duration, do func(*rig)) time.Duration {
		all = append(all, fault{at: within(latest), what: what, do: do})
		return all[len(all)-1].at
	}
	then := func(at time.Duration, do func(*rig)) { all = append(all, fault{at: at, what: "", do: do}) }
	for range 1 + random.IntN(4) {
		m := random.IntN(3)
		switch random.IntN(15) {
		case 0, 1: // the commonest of all
			add(powerCut, 8*time.Minute, (*rig).cut)
		case 2, 3, 4:
			phases := progress.Phases()
			f := fault{phase: phases[random.IntN(len(phases))], at: within(4 * time.Second), what: powerCut, do: (*rig).cut}
			if f.phase == progress.Deploy {
				f.at = within(4 * time.Minute)
			}
			all = append(all, f)
		case 5:
			add(lostData, 8*time.Minute, func(r *rig) { r.cut(); r.world.Lose() })
		case 6:
			var database []fakeironic.Node
			add("", 4*time.Minute, func(r *rig) { database = r.world.Snapshot() })
			add(formerData, 8*time.Minute, func(r *rig) {
				if r.cut(); database != nil {
					r.world.Restore(database)
				}
			})
		case 7:
			add(ironicEnds, 8*time.Minute, func(r *rig) { r.world.Stop() })
		case 8:
			add(flap, 8*time.Minute, func(r *rig) {
				if mm := r.world.Machines[m]; mm.Joined.IsZero() {
					mm.Power(r.world.Now, false, false)
				}
			})
		case 9:
			add(password, 4*time.Minute, func(r *rig) { r.world.Machines[m].Password = "new" })
			if random.IntN(2) == 0 {
				add("", 20*time.Minute, func(r *rig) { r.correct(func() { r.passwords[r.world.Machines[m].Name] = r.world.Machines[m].Password }) })
			}
		case 10:
			add(lostBoot, time.Second, func(r *rig) { r.world.Machines[m].Lost = 1 + random.IntN(2) })
			add(badDisk, time.Second, func(r *rig) { r.world.Machines[m].Broken = random.IntN(2) })
		case 11:
			at := add(foreign, time.Minute, func(r *rig) { r.blocking = []string{"another DHCP server answers"} })
			then(at+within(10*time.Minute), func(r *rig) { r.blocking = nil })
		case 12:
			at := add(wrongHint, time.Second, func(r *rig) { r.hints = rootdisk.Hints{SerialNumber: "S-master-1"} })
			then(at+within(20*time.Minute), func(r *rig) { r.correct(func() { r.hints = rootdisk.Hints{} }) })
		case 13:
			at := add(diskFull, 6*time.Minute, func(r *rig) { r.full = true })
			then(at+within(3*time.Minute), func(r *rig) { r.full = false })
		case 14:
			at := add(cable, 6*time.Minute, func(r *rig) { r.pulled = true })
			then(at+time.Minute, func(r *rig) { r.pulled = false })
		}
	}
	return all
}

// correct is a person who writes another file of the hosts' accounts.
func (r *rig) correct(change func()) {
	change()
	r.revision += "x"
}

// TestSchedules runs installations through power cuts in every phase, restarts, lost databases,
// faults of BMCs and machines, and kills of the program before and after any effect. Whatever
// happens: no disk is written twice or after its host has joined, DHCP never answers after its end
// is in the journal, and each run ends within its time with all hosts deployed or a named blocker.
func TestSchedules(t *testing.T) {
	const seeds = 100
	deployed, happened, cuts := 0, map[string]int{}, map[progress.Phase]int{}
	for seed := range uint64(seeds) {
		r := newRig(seed)
		r.kills = seed%2 == 0
		random := rand.New(rand.NewPCG(seed, 16))
		all, began := schedule(random), map[progress.Phase]time.Time{}
		var back, last time.Time
		ended := r.until(t.Context(), 6*time.Hour, func() bool {
			phase, now := r.memory().Phase, r.world.Now
			if began[phase].IsZero() && r.shown.Phase != "" {
				began[phase] = now
			}
			waits := false
			for i, f := range all {
				if f.due(now, began) && !r.off {
					f.do(r)
					if all[i].do, last = nil, now; f.what != "" {
						happened[f.what]++
					}
					if r.off {
						cuts[phase]++
					}
				}
				waits = waits || all[i].do != nil && (f.phase == "" || f.phase == phase)
			}
			switch {
			case r.off && back.IsZero():
				back = now.Add(time.Duration(20+random.IntN(100)) * time.Second)
			case r.off && !now.Before(back):
				back = time.Time{}
				r.boot()
			}
			return !waits && now.After(last.Add(time.Minute)) && r.done()
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
			for _, f := range schedule(rand.New(rand.NewPCG(seed, 16))) {
				t.Logf("%v %s %s", f.at, f.phase, f.what)
			}
			t.Fatalf("%s", r.file)
		}
	}
	t.Logf("%d of %d runs ended with all hosts deployed, the others with a named blocker", deployed, seeds)
	for _, what := range faults {
		if t.Logf("%3d times %s", happened[what], what); happened[what] == 0 {
			t.Errorf("it never happens: %s", what)
		}
	}
	var words []string
	for _, phase := range progress.Phases() {
		if words = append(words, fmt.Sprintf("%s %d", phase, cuts[phase])); cuts[phase] == 0 {
			t.Errorf("no power cut in the phase %s", phase)
		}
	}
	t.Logf("power cuts by phase: %s", strings.Join(words, ", "))
	if deployed < seeds/2 {
		t.Errorf("%d runs deployed: the schedules test little", deployed)
	}
	for _, what := range slices.Sorted(maps.Keys(happened)) {
		if !slices.Contains(faults, what) {
			t.Errorf("%q is not in the list", what)
		}
	}
}
