package simulate

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Random is a schedule of faults by chance for a cluster: one to six of them, of every kind that
// its hosts can have, some of them at the same time, and a while of rest in the end. With kinds
// there are only those. Equal seeds and clusters give equal schedules.
func Random(seed uint64, c Cluster, kinds ...Kind) Schedule {
	d := dice{newRand(seed), c, kinds}
	if len(kinds) == 0 {
		d.all = d.kinds()
	}
	s := Schedule{Seed: seed}
	end := time.Duration(0)
	if c.Bootstrap {
		s.Faults = d.install()
		for _, f := range s.Faults {
			end = max(end, f.At)
		}
	}
	begin, unit := 2*c.down(), c.down()
	for range 1 + d.IntN(6) {
		f := d.fault(begin)
		begin += time.Duration(d.Int64N(int64(4 * unit)))
		s.Faults = append(s.Faults, f)
		end = max(end, f.At+f.For)
	}
	if c.Bootstrap && d.IntN(2) == 0 {
		s.Faults = append(s.Faults, Fault{At: begin, Kind: EndAPI, Host: bootstrapName})
		end = max(end, begin)
	}
	slices.SortStableFunc(s.Faults, func(a, b Fault) int { return cmp.Compare(a.At, b.At) })
	s.Length = (end + 4*unit + 3*time.Second).Round(time.Millisecond)
	return s
}

// Trial is a cluster by chance, of the timing and policy of c, and a schedule for it.
func Trial(seed uint64, c Cluster) (Cluster, Schedule) {
	d := rand.New(rand.NewPCG(seed, 0x747269616c))
	c.Masters, c.Workers, c.Bootstrap = 2+d.IntN(max(5, c.Masters)-1), 0, d.IntN(3) == 0
	c.Kind, c.Client = vrrp.API, 0
	if !c.Bootstrap && d.IntN(5) == 0 {
		c.Kind, c.Workers = vrrp.Ingress, 1+d.IntN(3)
	}
	if c.Kind == vrrp.API && len(c.Policy.DNS.Weights) > 0 && d.IntN(3) == 0 {
		c.Kind = vrrp.DNS
	}
	return c, Random(seed, c)
}

// newRand is a source of its own for each seed.
func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x7363686564)) }

// dice throws for a cluster.
type dice struct {
	*rand.Rand
	Cluster
	all []Kind // from which it chooses
}

// install are masters that join, most of them.
func (d dice) install() (all []Fault) {
	for i := range d.Masters {
		if d.IntN(5) > 0 {
			all = append(all, Fault{At: d.time(3 * time.Second), Kind: Join, Host: masterName(i)})
		}
	}
	return all
}

func (d dice) time(most time.Duration) time.Duration {
	return time.Duration(d.Int64N(int64(most))).Round(time.Millisecond)
}

// lasting is a duration of any order between an eighth and four times what a backup waits.
func (d dice) lasting() time.Duration {
	unit := float64(d.down())
	return time.Duration(unit * math.Exp2(-3+5*d.Float64())).Round(time.Millisecond)
}

// kinds are those that a cluster's hosts can have, the ones that matter most several times.
func (d dice) kinds() []Kind {
	all := []Kind{KillVRRP, KillKeepalived, StopKeepalived, EndKeepalived, PowerOff, PowerOff, Reboot, Reboot, Cut, Cut, CutIn, CutOut, Loss, Delay, Duplicate,
		Hog, DiskFull}
	if d.Kind == vrrp.Ingress {
		return append(all, KillRouter, KillRouter, DrainRouter, DrainRouter, KillMonitor)
	}
	if d.Kind == vrrp.DNS {
		return append(all, KillDNS, KillDNS, KillAPI, EndAPI, KillMonitor)
	}
	return append(all, KillLB, KillLB, StopLB, KillAPI, StopAPI, EndAPI, KillMCS, KillMonitor)
}

// fault is one that begins some time after another.
func (d dice) fault(begin time.Duration) Fault {
	f := Fault{At: (begin + d.time(2*d.down())).Round(time.Millisecond), Kind: d.all[d.IntN(len(d.all))], Host: Holder}
	if names := d.hosts(); d.IntN(2) == 0 {
		f.Host = names[d.IntN(len(names))]
	}
	switch f.Kind {
	case KillVRRP, KillKeepalived, StopKeepalived:
		return f
	case Loss, Duplicate:
		f.Amount = 5 + d.IntN(60)
	case Delay:
		f.Amount = 1 + d.IntN(int(d.Timing.Advert/time.Millisecond))
	case Hog:
		f.Amount = 1 + d.IntN(int(d.Timing.Advert/time.Millisecond))/2
	}
	f.For = d.lasting()
	return f
}
