package schedule

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Random is a random schedule for a cluster: one to six faults of random kinds that its hosts
// can have, some at the same time, and time without a fault at the end. If kinds are given, only
// those occur, beside an installation. Equal seeds and clusters give equal schedules.
func Random(seed uint64, c Cluster, kinds ...Kind) Schedule {
	d := dice{NewRand(seed), c, kinds}
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
	begin, unit := 2*c.MasterDown(), c.MasterDown()
	for range 1 + d.IntN(6) {
		f := d.fault(begin)
		begin += time.Duration(d.Int64N(int64(4 * unit)))
		s.Faults = append(s.Faults, f)
		end = max(end, f.At+f.For)
	}
	if c.Bootstrap && d.IntN(2) == 0 {
		s.Faults = append(s.Faults, Fault{At: begin, Kind: EndAPI, Host: BootstrapName})
		end = max(end, begin)
	}
	slices.SortStableFunc(s.Faults, func(a, b Fault) int { return cmp.Compare(a.At, b.At) })
	s.Length = (end + 4*unit + 3*time.Second).Round(time.Millisecond)
	return s
}

// Trial is a random cluster with the timing and policy of c, and a schedule for it.
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

// NewRand is a random source for a seed.
func NewRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x7363686564)) }

// dice draws faults for a cluster.
type dice struct {
	*rand.Rand
	Cluster
	all []Kind // from which it chooses
}

// install are faults by which most of the masters join.
func (d dice) install() (all []Fault) {
	for i := range d.Masters {
		if d.IntN(5) > 0 {
			all = append(all, Fault{At: d.time(3 * time.Second), Kind: Join, Host: MasterName(i)})
		}
	}
	return all
}

func (d dice) time(most time.Duration) time.Duration {
	return time.Duration(d.Int64N(int64(most))).Round(time.Millisecond)
}

// lasting is a random duration between an eighth of a backup's wait and four times that.
func (d dice) lasting() time.Duration {
	unit := float64(d.MasterDown())
	return time.Duration(unit * math.Exp2(-3+5*d.Float64())).Round(time.Millisecond)
}

// kinds are the kinds that a cluster's hosts can have; important ones stand several times.
func (d dice) kinds() []Kind {
	all := []Kind{
		KillVRRP, KillKeepalived, StopKeepalived, EndKeepalived, PowerOff, PowerOff, Reboot, Reboot,
		Cut, Cut, CutIn, CutOut, Loss, Delay, Duplicate, Hog, DiskFull,
	}
	if d.Kind == vrrp.Ingress {
		return append(all, KillRouter, KillRouter, DrainRouter, DrainRouter, KillMonitor)
	}
	if d.Kind == vrrp.DNS {
		return append(all, KillDNS, KillDNS, KillAPI, EndAPI, KillMonitor)
	}
	return append(all, KillLB, KillLB, StopLB, KillAPI, StopAPI, EndAPI, KillMCS, KillMonitor)
}

// fault is a random fault that begins some time after another.
func (d dice) fault(begin time.Duration) Fault {
	f := Fault{
		At:   (begin + d.time(2*d.MasterDown())).Round(time.Millisecond),
		Kind: d.all[d.IntN(len(d.all))],
		Host: Holder,
	}
	if names := d.Hosts(); d.IntN(2) == 0 {
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
