package provision

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/seeds"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/shared/rootdisk"
	"github.com/onprem-infra/onprem-infra/test/fakeironic"
)

// fault is one thing that happens to a run, so long after its start or after what from says.
type fault struct {
	at   time.Duration
	from func(*rig) time.Time // zero before that has happened
	what string
	do   func(*rig)
}

// pending reports whether the fault is still to come, and due whether it comes now.
func (f fault) pending(r *rig) (pending, due bool) {
	from := f.from(r)
	pending = f.do != nil && !from.IsZero()
	return pending, pending && !r.off && !r.world.Now.Before(from.Add(f.at))
}

func start(*rig) time.Time { return begin }

// during is when a phase began, while it lasts.
func during(p progress.Phase) func(*rig) time.Time {
	return func(r *rig) time.Time {
		switch m := r.memory(); {
		case m.Phase != p:
			return time.Time{}
		case m.Since.IsZero(): // the first
			return begin
		default:
			return m.Since
		}
	}
}

// deployment is when the deployment of a host was asked for.
func deployment(m int) func(*rig) time.Time {
	return func(r *rig) time.Time { return r.memory().Hosts[r.world.Machines[m].Name].Write.Intent }
}

// complete is when the disk of a host was first complete, whoever knows of it.
func complete(m int) func(*rig) time.Time {
	return func(r *rig) time.Time { return r.complete[r.world.Machines[m].Name] }
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
	otherDHCP  = "another DHCP server answers"
	wrongHint  = "the hints of the root disk are wrong"
	diskFull   = "the disk is full"
	cable      = "the cable is pulled"
	allowed    = "a person allows the disks that count as written"
	apiAway    = "the cluster's API is away"
	backAsked  = "a person takes provisioning back"
	released   = "a person has hosts of the cluster begin"
	joinedLate = "a host joins as its deployment is ended"
	startFails = "the start of a host that has joined fails"
	ironicAway = "Ironic is killed, and is away while a disk is written"
	common     = "power cut of all, the database is that of before, and hosts boot from the network"
)

// faults are all of them.
var faults = []string{powerCut, lostData, formerData, ironicEnds, flap, password, lostBoot, badDisk, otherDHCP, wrongHint, diskFull, cable, allowed, common, apiAway, backAsked, released, joinedLate, startFails, ironicAway}

// schedule is what happens in a run, from its seed.
func schedule(random *rand.Rand) (all []fault) {
	within := func(d time.Duration) time.Duration {
		return time.Duration(random.Int64N(int64(d))).Truncate(time.Second)
	}
	when := func(from func(*rig) time.Time, at time.Duration, what string, do func(*rig)) {
		all = append(all, fault{at: at, from: from, what: what, do: do})
	}
	add := func(what string, latest time.Duration, do func(*rig)) time.Duration {
		at := within(latest)
		when(start, at, what, do)
		return at
	}
	then := func(at time.Duration, do func(*rig)) { when(start, at, "", do) }
	for range 2 + random.IntN(4) {
		m := random.IntN(3)
		// A disk is written and its host boots within 75 s of the request, and within 12 s of its last
		// byte Ironic knows it.
		writing, soon := deployment(m), 75*time.Second
		if random.IntN(2) == 0 {
			writing, soon = complete(m), 12*time.Second
		}
		switch random.IntN(16) {
		case 0:
			add(powerCut, 8*time.Minute, (*rig).cut)
		case 1, 2:
			when(writing, within(soon), powerCut, (*rig).cut)
		case 3, 4, 5:
			phases := progress.Phases()
			when(during(phases[random.IntN(len(phases))]), within(2*time.Second), powerCut, (*rig).cut)
		case 6:
			when(writing, within(soon), lostData, func(r *rig) { r.cut(); r.world.Lose() })
		case 7:
			var database []fakeironic.Node
			at := within(soon)
			when(writing, at/2, "", func(r *rig) { database = r.world.Snapshot() })
			when(writing, at, formerData, func(r *rig) {
				if r.cut(); database != nil {
					r.world.Restore(database)
				}
			})
		case 8:
			when(writing, within(soon), ironicEnds, func(r *rig) { r.world.Stop() })
		case 9:
			add(flap, 8*time.Minute, func(r *rig) {
				if mm := r.world.Machines[m]; mm.Joined.IsZero() {
					mm.Power(r.world.Now, false, false)
				}
			})
		case 10:
			add(password, 4*time.Minute, func(r *rig) { r.world.Machines[m].Password = "new" })
			if random.IntN(2) == 0 {
				add("", 20*time.Minute, func(r *rig) {
					r.correct(func() { r.passwords[r.world.Machines[m].Name] = r.world.Machines[m].Password })
				})
			}
		case 11:
			add(lostBoot, time.Second, func(r *rig) { r.world.Machines[m].Lost = 1 + random.IntN(2) })
			add(badDisk, time.Second, func(r *rig) { r.world.Machines[m].Broken = random.IntN(2) })
		case 12:
			at := add(otherDHCP, time.Minute, func(r *rig) { r.blocking = []string{"another DHCP server answers"} })
			then(at+within(10*time.Minute), func(r *rig) { r.blocking = nil })
		case 13:
			at := add(wrongHint, time.Second, func(r *rig) { r.hints = rootdisk.Hints{SerialNumber: "S-master-1"} })
			then(at+within(20*time.Minute), func(r *rig) { r.correct(func() { r.hints = rootdisk.Hints{} }) })
		case 14:
			at := add(diskFull, 6*time.Minute, func(r *rig) { r.full = true })
			then(at+within(3*time.Minute), func(r *rig) { r.full = false })
		case 15:
			at := add(cable, 6*time.Minute, func(r *rig) { r.pulled = true })
			then(at+time.Minute, func(r *rig) { r.pulled = false })
		}
	}
	for range random.IntN(3) {
		add(allowed, 10*time.Minute, func(r *rig) {
			for _, m := range r.world.Machines {
				if h := r.memory().Hosts[m.Name]; h.MayBeGivenUp() && m.Joined.IsZero() {
					r.allow(m)
				}
			}
		})
	}
	if random.IntN(6) == 0 {
		// One host has joined by then, and another is late.
		m := random.IntN(3)
		var database []fakeironic.Node
		then(0, func(r *rig) { r.world.Machines[(m+1)%3].Lost = 1 })
		when(deployment(m), 5*time.Second+within(20*time.Second), "", func(r *rig) { database = r.world.Snapshot() })
		power := func(r *rig, on bool) {
			for _, m := range r.world.Machines {
				m.Power(r.world.Now, on, on)
			}
		}
		at := time.Minute + within(time.Minute)
		when(complete(m), at, common, func(r *rig) {
			if r.cut(); database != nil {
				r.world.Restore(database)
			}
			power(r, false)
		})
		when(complete(m), at+time.Second, "", func(r *rig) { power(r, true) }) // once the bootstrap machine is up
	}
	return all
}

// handingSchedule is what happens to the handover.
func handingSchedule(random *rand.Rand) (all []fault) {
	within := func(d time.Duration) time.Duration {
		return time.Duration(random.Int64N(int64(d))).Truncate(time.Second)
	}
	phases := slices.DeleteFunc(progress.Phases(), func(p progress.Phase) bool { return !p.HandsOver() })
	for range random.IntN(3) {
		p := phases[random.IntN(len(phases))]
		switch random.IntN(4) {
		case 0:
			var since time.Time
			all = append(all, fault{within(2 * time.Second), during(p), apiAway, func(r *rig) { r.cluster.away, since = true, r.world.Now }},
				fault{within(3 * time.Minute), func(*rig) time.Time { return since }, "", func(r *rig) { r.cluster.away = false }})
		case 1, 2:
			all = append(all, fault{within(20 * time.Second), during(p), backAsked, func(r *rig) {
				if random.IntN(8) > 0 { // else Ironic stays on
					f, _ := clusterOf{r}.Fleet(context.Background())
					r.cluster.stop(f.Stop())
				}
				r.reverse(true)
			}})
			if random.IntN(2) == 0 {
				all = append(all, fault{within(2 * time.Second), during(progress.TakeBack), powerCut, (*rig).cut})
			}
		case 3:
			all = append(all, fault{within(time.Minute), during(p), released, func(r *rig) {
				f, _ := clusterOf{r}.Fleet(context.Background())
				f.Bootstrap = false // it is not seen any more, or left
				for _, name := range scale.Release(f).Release {
					r.cluster.free(name, r.world.Now)
				}
			}})
		}
	}
	return all
}

// joiningSchedule is a host that joins in the moment in which Ironic ends its deployment. Each machine
// has that once at most, if it ever comes to that.
func joiningSchedule(random *rand.Rand) (all []fault) {
	for m := range 3 {
		if random.IntN(2) == 0 {
			continue
		}
		ends := func(r *rig) time.Time {
			mm := r.world.Machines[m]
			n := r.node(mm)
			if n == nil || n.State != node.Deleting || !mm.On || !mm.Joined.IsZero() || r.complete[mm.Name].IsZero() {
				return time.Time{}
			}
			return n.Changed
		}
		all = append(all, fault{time.Second, ends, joinedLate, func(r *rig) { r.world.Machines[m].Joined = r.world.Now }})
	}
	return all
}

// awaySchedule is Ironic that is killed while the ramdisk of a host writes, and starts once that may have
// ended. In half of the runs one host or all of them have addresses of a DHCP server which is not ours.
func (r *rig) awaySchedule(random *rand.Rand) (all []fault) {
	m, unnamed := random.IntN(3), random.IntN(4)
	r.unnamed = map[string]bool{}
	for i, host := range r.world.Machines {
		r.unnamed[host.Name] = unnamed == 0 || unnamed == 1 && i == m
	}
	if random.IntN(4) > 0 {
		return nil
	}
	at, lasts := 30*time.Second+time.Duration(random.IntN(40))*time.Second, time.Duration(5+random.IntN(40))*time.Second
	return []fault{{at, deployment(m), ironicAway, func(r *rig) {
		r.world.Stop()
		r.away = r.world.Now.Add(lasts)
	}}}
}

// goOn is a person who has provisioning handed over again, and who starts the cluster's own Ironic that
// was stopped, until both are done.
func (r *rig) goOn() {
	m := r.memory()
	if !m.Held.IsZero() && r.world.Now.Sub(m.Held) > 6*time.Minute && !r.reversal.Asks(m.HandoverSince, r.world.Now) {
		r.reverse(false)
	}
	if m.Held.IsZero() && m.Phase.Past(progress.Takeover) && !m.HandoverSince.IsZero() && r.world.Now.Sub(m.Since) > 6*time.Minute {
		r.cluster.operator.Paused, r.cluster.operator.Handover = false, false
	}
}

// correct is a person who writes another file of the hosts' accounts.
func (r *rig) correct(change func()) {
	change()
	r.revision += "x"
}

// outcome is what came of a schedule.
type outcome struct {
	seed            uint64
	wrong           []string // the rules that were broken
	blockers        []string
	deployed        bool
	anew, takenBack int
	happened        map[string]int
	cuts            map[progress.Phase]int
	faults          []fault
	file            []byte // the journal
}

// run runs the schedule of a seed.
func run(ctx context.Context, seed uint64) outcome {
	r := newRig(seed)
	r.kills = seed%2 == 0
	random := rand.New(rand.NewPCG(seed, 16))
	r.startsLate(starts[seed/2%uint64(len(starts))])
	all := append(schedule(random), handingSchedule(rand.New(rand.NewPCG(seed, 17)))...)
	all = append(all, joiningSchedule(rand.New(rand.NewPCG(seed, 18)))...)
	all = append(all, r.awaySchedule(rand.New(rand.NewPCG(seed, 19)))...)
	o := outcome{seed: seed, happened: map[string]int{}, cuts: map[progress.Phase]int{}, faults: all}
	var back, last time.Time
	ended := r.until(ctx, 6*time.Hour, func() bool {
		phase, now, waits := r.memory().Phase, r.world.Now, false
		for i, f := range all {
			pending, due := f.pending(r)
			if due {
				f.do(r)
				if all[i].do, last = nil, now; f.what != "" {
					o.happened[f.what]++
				}
				if r.off {
					o.cuts[phase]++
				}
			}
			waits = waits || pending && !due
		}
		r.goOn()
		switch {
		case r.off && back.IsZero():
			back = now.Add(time.Duration(20+random.IntN(100)) * time.Second)
		case r.off && !now.Before(back):
			back = time.Time{}
			r.boot()
		}
		return !waits && now.After(last.Add(time.Minute)) && r.done()
	})
	if o.wrong = r.broken(); !ended {
		o.wrong = append(o.wrong, fmt.Sprintf("no end: %+v", r.shown))
	}
	if o.deployed = r.shown.Phase == progress.Ended; o.deployed && len(r.cluster.begun) != workers {
		o.wrong = append(o.wrong, fmt.Sprintf("%d hosts of the cluster have begun", len(r.cluster.begun)))
	}
	for _, m := range r.world.Machines {
		if o.deployed && !m.On && m.Password == r.passwords[m.Name] { // else nobody can start it
			o.wrong = append(o.wrong, m.Name+" has joined, and is off")
		}
	}
	if r.starts > 0 {
		o.happened[startFails]++
	}
	o.takenBack = strings.Count(string(r.file), `"kind":"back"`)
	for _, h := range r.shown.Hosts {
		if h.Blocker != "" {
			o.blockers = append(o.blockers, h.Name+": "+h.Blocker)
		}
	}
	if ended {
		var wrong []string
		o.anew, wrong = r.allowAll(ctx)
		o.wrong = append(o.wrong, wrong...)
	}
	o.file = r.file
	return o
}

// text is an outcome for people.
func (o outcome) text() string {
	var text strings.Builder
	for _, f := range o.faults {
		fmt.Fprintf(&text, "%v %s, happened %t\n", f.at, f.what, f.do == nil)
	}
	return text.String() + string(o.file)
}

// runAll runs the schedules of so many seeds on every processor. The first ones that broke a rule are
// shown whole.
func runAll(t *testing.T, count int) {
	t.Helper()
	deployed, anew, takenBack, happened, cuts := 0, 0, 0, map[string]int{}, map[progress.Phase]int{}
	shown := 0
	add := func(seed uint64, o outcome) {
		for _, b := range o.wrong {
			t.Errorf("seed %d: %s", seed, b)
		}
		if len(o.wrong) > 0 && shown < 3 {
			shown++
			t.Logf("seed %d:\n%s", seed, o.text())
		}
		if o.deployed {
			deployed++
		}
		anew, takenBack = anew+o.anew, takenBack+o.takenBack
		for what, n := range o.happened {
			happened[what] += n
		}
		for phase, n := range o.cuts {
			cuts[phase] += n
		}
		for _, b := range o.blockers {
			if testing.Verbose() && count <= some {
				t.Logf("seed %d: %s", seed, b)
			}
		}
	}
	seeds.Each(0, count, func(seed uint64) outcome { return run(t.Context(), seed) }, add, func(int) {})
	t.Logf("%d of %d runs ended with all hosts deployed, the others with a named blocker; %d disks written anew, provisioning taken back %d times", deployed, count, anew, takenBack)
	for _, what := range faults {
		if t.Logf("%3d times %s", happened[what], what); happened[what] == 0 {
			t.Errorf("it never happens: %s", what)
		}
	}
	var words []string
	for _, phase := range progress.AllPhases() {
		if words = append(words, fmt.Sprintf("%s %d", phase, cuts[phase])); cuts[phase] == 0 {
			t.Errorf("no power cut in the phase %s", phase)
		}
	}
	t.Logf("power cuts by phase: %s", strings.Join(words, ", "))
	if deployed < count/2 || anew == 0 || takenBack == 0 {
		t.Errorf("%d runs deployed, %d disks written anew: the schedules test little", deployed, anew)
	}
	for _, what := range slices.Sorted(maps.Keys(happened)) {
		if !slices.Contains(faults, what) {
			t.Errorf("%q is not in the list", what)
		}
	}
}

// some is how many schedules the normal run has, and all how many the long one has.
const (
	some = 150
	all  = 10_000
)

// TestSchedules runs installations through power cuts in every phase, restarts, lost databases,
// faults of BMCs and machines, and kills of the program before and after any effect. Whatever
// happens: no disk is written again that a system ran from or that the journal has as written, or after
// its host has joined, nor because a proof that it was not written is false, DHCP never answers after its end is in the journal, and each run ends within its time with all hosts deployed or a named blocker. A
// person then allows the disks that count as written to be written anew, and they are. The cluster's own
// Ironic never runs while a part of this machine is on, and no host of the cluster begins then; a person
// may take provisioning back, and has it handed over again.
func TestSchedules(t *testing.T) { runAll(t, some) }

// TestLongSchedules runs as many as the claim is about.
func TestLongSchedules(t *testing.T) {
	if os.Getenv("ONPREM_INFRA_LONG") == "" {
		t.Skip("set ONPREM_INFRA_LONG=1, as make e2e does")
	}
	runAll(t, all)
}
