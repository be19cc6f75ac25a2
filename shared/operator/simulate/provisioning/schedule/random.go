package schedule

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// Longest is how long a fault may last, and how late it may begin.
const Longest = 2 * time.Hour

// MaxHosts is the largest simulated cluster: events name hosts in 16 bits.
const MaxHosts = 1000

// NewRand is a random source for the faults of a seed.
func NewRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x70726f76)) }

// Random is a random schedule for a cluster: none to four faults, some at the same time. One of
// four has a single power cut and nothing else, and a fourth of the others a handover that is
// reversed, see takenBack. Equal seeds and clusters give equal schedules.
func Random(seed uint64, c Cluster) Schedule {
	d := dice{NewRand(seed), c, c.Marks()}
	s := Schedule{Seed: seed}
	if d.IntN(4) == 0 {
		s.Faults = []Fault{d.fault(PowerOff)}
		return s
	}
	for range d.IntN(5) {
		s.Faults = append(s.Faults, d.fault(d.kind()))
	}
	if d.IntN(4) == 0 {
		s.Faults = append(s.Faults, d.takenBack()...)
	}
	return s
}

// RandomAfter is a random schedule of one to five faults that begin after the handover: while the
// cluster's own Ironic installs its hosts. A cluster without such hosts has none.
func RandomAfter(seed uint64, c Cluster) Schedule {
	d := dice{NewRand(seed), c, []string{Taken}}
	for _, h := range c.Workers() {
		for _, step := range Steps() {
			d.marks = append(d.marks, Mark(h.Name, step))
		}
	}
	s := Schedule{Seed: seed}
	if len(c.Workers()) == 0 {
		return s
	}
	ofPod := []Kind{MoveIronic, KillIronic, LoseDatabase}
	ofHolder := []Kind{PowerOff, PowerOff, CutMachine, CutBoot, CutOff, KillDHCP}
	for range 1 + d.IntN(5) {
		f := d.fault(d.kind())
		switch d.IntN(3) {
		case 0:
			f = d.fault(ofPod[d.IntN(len(ofPod))])
			f.Host = Pod
		case 1:
			f = d.fault(ofHolder[d.IntN(len(ofHolder))])
			f.Host = Holder
		}
		if f.After == "" {
			f.After = Taken
		}
		s.Faults = append(s.Faults, f)
	}
	return s
}

// dice draws faults for a cluster.
type dice struct {
	*rand.Rand
	Cluster
	marks []string
}

// kind is a random kind, some of them more often.
func (d dice) kind() Kind {
	often := []Kind{PowerOff, PowerOff, CutMachine, CutBoot, CutBoot}
	if d.IntN(2) == 0 {
		return often[d.IntN(len(often))]
	}
	for {
		all := Kinds()
		if k := all[d.IntN(len(all))]; len(d.targets(k)) > 0 {
			return k
		}
	}
}

// takenBack is a handover that a person reverses, with up to two faults meanwhile.
func (d dice) takenBack() []Fault {
	f := d.fault([]Kind{TakeBack, TakeBack, AskBack}[d.IntN(3)])
	phases := slices.DeleteFunc(progress.Phases(), func(p progress.Phase) bool {
		return !p.HandsOver()
	})
	f.After, f.At = PhaseMark(phases[d.IntN(len(phases))]), d.within(time.Minute)
	all := []Fault{f}
	for range d.IntN(3) {
		f := d.fault(d.kind())
		f.After, f.At = TakenBack, d.within(3*time.Minute)
		all = append(all, f)
	}
	return all
}

func (d dice) within(most time.Duration) time.Duration {
	return time.Duration(d.Int64N(int64(most))).Round(time.Millisecond)
}

func (d dice) fault(k Kind) Fault {
	hosts := d.targets(k)
	f := Fault{Kind: k, Host: hosts[d.IntN(len(hosts))]}
	if d.IntN(3) == 0 && len(hosts) > 1 {
		f.Host = hosts[d.IntN(2)]
	}
	if d.IntN(4) == 0 {
		f.At = d.within(15 * time.Minute)
	} else {
		f.After, f.At = d.marks[d.IntN(len(d.marks))], d.within(20*time.Second)
	}
	if !instant(f) { // from five seconds to five minutes
		f.For = time.Duration(math.Exp(d.Float64()*math.Log(60)) * float64(5*time.Second)).
			Round(time.Millisecond)
	}
	return f
}
