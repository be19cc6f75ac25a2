package chaos

import (
	"math/rand/v2"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
)

// kinds are what may happen to a node, the ones that move a VIP most often.
var kinds = []schedule.Kind{
	schedule.PowerOff, schedule.PowerOff, schedule.PowerOff, schedule.Reboot, schedule.Reboot,
	schedule.KillVRRP, schedule.StopVRRP, schedule.KillDaemon, schedule.KillDaemon, schedule.StopKeepalived, schedule.EndKeepalived,
	schedule.KillKeepalived, schedule.StopSupervisor, schedule.KillMonitor, schedule.StopMonitor, schedule.KillLBMonitor, schedule.StopLBMonitor,
	schedule.KillLB, schedule.StopLB, schedule.KillAPI, schedule.StopAPI, schedule.EndAPI,
	schedule.Cut, schedule.Cut, schedule.CutIn, schedule.CutOut, schedule.Loss, schedule.Delay, schedule.Duplicate, schedule.Hog, schedule.DiskFull,
}

// gated are those of them that may happen to a node which has never seen the API.
var gated = []schedule.Kind{
	schedule.PowerOff, schedule.Reboot, schedule.KillVRRP, schedule.KillDaemon, schedule.EndKeepalived, schedule.KillKeepalived, schedule.KillMonitor,
	schedule.StopMonitor, schedule.KillLB, schedule.KillLBMonitor, schedule.Cut, schedule.CutIn, schedule.Loss, schedule.Hog,
}

// Random is a schedule of one to four faults by chance, within some seconds. The power goes only
// once in it, as a boot takes longer than all the rest. Equal seeds and hosts give equal schedules.
func Random(seed uint64, hosts []string) schedule.Schedule { return throw(seed, hosts, kinds, 4) }

// Gated is Random for nodes whose gates are closed, none of which holds the VIP.
func Gated(seed uint64, hosts []string) schedule.Schedule {
	s := throw(seed, hosts, gated, 3)
	d := rand.New(rand.NewPCG(seed, 0x67617465))
	for i := range s.Faults {
		if s.Faults[i].Host == schedule.Holder {
			s.Faults[i].Host = hosts[d.IntN(len(hosts))]
		}
	}
	return s
}

func throw(seed uint64, hosts []string, among []schedule.Kind, most int) schedule.Schedule {
	d := rand.New(rand.NewPCG(seed, 0x6368616f73))
	s := schedule.Schedule{Seed: seed}
	begin, end, dark := 300*time.Millisecond, time.Duration(0), false
	for range 1 + d.IntN(most) {
		f := schedule.Fault{At: begin, Host: schedule.Holder}
		for {
			f.Kind = among[d.IntN(len(among))]
			if class := verbs[f.Kind].class; !dark || class != power {
				dark = dark || class == power
				break
			}
		}
		if d.IntN(5) < 2 {
			f.Host = hosts[d.IntN(len(hosts))]
		}
		f.For, f.Amount = lasting(d, f.Kind), amount(d, f.Kind)
		s.Faults = append(s.Faults, f)
		end = max(end, f.At+f.For)
		begin += time.Duration(d.IntN(1500)) * time.Millisecond
	}
	s.Length = end + 2*time.Second
	return s
}

// lasting is how long a fault lasts that does not end by itself.
func lasting(d *rand.Rand, k schedule.Kind) time.Duration {
	switch {
	case verbs[k].undo == nil:
		return 0
	case verbs[k].class == power:
		return time.Duration(200+d.IntN(800)) * time.Millisecond
	default:
		return time.Duration(50+d.IntN(2450)) * time.Millisecond
	}
}

// amount is how bad it is: of a processor's load in loops.
func amount(d *rand.Rand, k schedule.Kind) int {
	switch k {
	case schedule.Loss, schedule.Duplicate:
		return 10 + d.IntN(60)
	case schedule.Delay:
		return 5 + d.IntN(45)
	case schedule.Hog:
		return 1 + d.IntN(6)
	default:
		return 0
	}
}
