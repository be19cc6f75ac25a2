package schedule

import (
	"math"
	"math/rand/v2"
	"time"
)

// Longest is how long a fault may last, and how late it may begin.
const Longest = 2 * time.Hour

// MaxHosts is the largest simulated cluster: events name hosts in 16 bits.
const MaxHosts = 1000

// NewRand is a random source for the faults of a seed.
func NewRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x70726f76)) }

// Random is a random schedule for a cluster: none to four faults, some at the same time. One of
// four has a single power cut and nothing else. Equal seeds and clusters give equal schedules.
func Random(seed uint64, c Cluster) Schedule {
	d := dice{NewRand(seed), c, c.Marks()}
	s := Schedule{Seed: seed}
	if d.IntN(4) == 0 {
		s.Faults = []Fault{d.fault(PowerOff)}
		return s
	}
	often := []Kind{PowerOff, PowerOff, CutMachine, CutBoot, CutBoot}
	for range d.IntN(5) {
		k := often[d.IntN(len(often))]
		if all := Kinds(); d.IntN(2) == 0 {
			k = all[d.IntN(len(all))]
		}
		s.Faults = append(s.Faults, d.fault(k))
	}
	return s
}

// dice draws faults for a cluster.
type dice struct {
	*rand.Rand
	Cluster
	marks []string
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
