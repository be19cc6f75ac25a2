package schedule

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Longest is the longest schedule.
const Longest = time.Hour

// NewRand is a random source for the faults of a seed.
func NewRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x726f757465)) }

// Random is a random schedule for a cluster: one to five faults of random kinds, some at the
// same time, and 30 s without a fault at the end. Equal seeds and clusters give equal schedules.
func Random(seed uint64, c Cluster) Schedule {
	d := dice{NewRand(seed), c}
	s := Schedule{Seed: seed}
	if c.Bootstrap {
		s.Faults = d.install()
	}
	begin := time.Duration(0)
	for range 1 + d.IntN(5) {
		begin += d.within(8 * time.Second)
		s.Faults = append(s.Faults, d.fault(begin))
	}
	end := time.Duration(0)
	for _, f := range s.Faults {
		end = max(end, f.At+f.For)
	}
	slices.SortStableFunc(s.Faults, func(a, b Fault) int { return cmp.Compare(a.At, b.At) })
	s.Length = (end + 30*time.Second).Round(time.Millisecond)
	return s
}

// Trial is a random cluster with the plan of c, and a schedule for it.
func Trial(seed uint64, c Cluster) (Cluster, Schedule) {
	c.Bootstrap = rand.New(rand.NewPCG(seed, 0x747269616c)).IntN(3) == 0
	return c, Random(seed, c)
}

// dice draws faults for a cluster.
type dice struct {
	*rand.Rand
	Cluster
}

func (d dice) within(most time.Duration) time.Duration {
	return time.Duration(d.Int64N(int64(most))).Round(time.Millisecond)
}

// install are control plane nodes that join, and mostly the end of the bootstrap machine's API.
func (d dice) install() (all []Fault) {
	for i := range d.Masters {
		all = append(all, Fault{At: d.within(10 * time.Second), Kind: Join, Host: MasterName(i)})
	}
	if d.IntN(4) > 0 {
		all = append(all, Fault{At: 10*time.Second + d.within(25*time.Second), Kind: EndAPI,
			Host: BootstrapName})
	}
	return all
}

// fault is a random fault that begins within 2 s after a time.
func (d dice) fault(begin time.Duration) Fault {
	often := []Kind{PowerOff, PowerOff, Reboot, Reboot, Upgrade, Cut, KillLB, StopLB, KillAPI,
		KillBGP}
	k := often[d.IntN(len(often))]
	if all := Kinds(); d.IntN(2) == 0 {
		k = all[d.IntN(len(all)-1)] // without the last one: nodes join of themselves
	}
	targets := d.Targets(k)
	if len(targets) == 0 {
		k = PowerOff
		targets = d.Targets(k)
	}
	f := Fault{At: begin + d.within(2*time.Second), Kind: k, Host: targets[d.IntN(len(targets))]}
	switch k {
	case KillBGP, KillBFD, KillZebra, KillSpeaker, FlapBFD, Upgrade:
		return f
	}
	// From half a second to half a minute.
	f.For = time.Duration(math.Exp(d.Float64()*math.Log(60)) * float64(500*time.Millisecond)).
		Round(time.Millisecond)
	return f
}
