package engine

import (
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/balancer"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/checks"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/supervisor"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/trace"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// begin begins a fault. A host that is off is not affected.
func begin(w *world.World, f schedule.Fault, i int32) {
	h := w.Find(f.Host)
	if h == nil || !h.On || !h.Joined && f.Kind != schedule.Join {
		return
	}
	w.Note(h, string(f.Kind))
	switch f.Kind {
	case schedule.KillVRRP:
		supervisor.KillVRRP(w, h)
	case schedule.KillKeepalived:
		supervisor.KillAll(w, h)
	case schedule.StopKeepalived, schedule.StopVRRP:
		supervisor.Freeze(w, h)
	case schedule.EndKeepalived:
		supervisor.Release(w, h, f, h.Role == role.Bootstrap)
	case schedule.PowerOff:
		powerOff(w, h)
		supervisor.BootAfter(w, h, f.For)
	case schedule.Reboot:
		supervisor.Release(w, h, f, false)
	case schedule.Join:
		join(w, h)
	case schedule.Part:
		removeNode(w, h)
	default:
		if slices.Contains(disturbances, f.Kind) {
			disturb(w, h, f, 1)
			endAfter(w, h, f, i)
		} else {
			breakProgram(w, h, f, i)
		}
	}
}

// endAfter schedules the end of a fault that has one.
func endAfter(w *world.World, h *world.Host, f schedule.Fault, i int32) {
	if f.For > 0 {
		w.After(f.For, h.Event(world.EvHealed, h.Boots).With(i))
	}
}

// breakProgram breaks a program other than keepalived.
func breakProgram(w *world.World, h *world.Host, f schedule.Fault, i int32) {
	switch api := h.API; f.Kind {
	case schedule.KillLB:
		if !h.LB.On {
			return
		}
		balancer.Kill(w, h)
	case schedule.StopLB:
		if !h.LB.On || h.LB.Hung {
			return
		}
		balancer.Hang(w, h)
	case schedule.KillAPI:
		balancer.SetAPI(w, h, world.Server{})
	case schedule.StopAPI:
		if api.Hung = true; api.On {
			balancer.SetAPI(w, h, api)
		}
	case schedule.EndAPI:
		if api.On && !api.Draining {
			api.Draining = true
			balancer.SetAPI(w, h, api)
			w.After(w.Shutdown, h.Event(world.EvHealed, h.Boots).With(i))
		}
		return
	case schedule.KillMonitor:
		checks.Kill(w, h)
	case schedule.KillMCS:
		h.MCS = false
	case schedule.KillRouter:
		h.Route.On = false
	case schedule.DrainRouter:
		h.Route.Ready = false
	case schedule.KillDNS:
		h.DNS = false
	}
	checks.Wake(w, h)
	endAfter(w, h, f, i)
}

// endFault ends a fault. A boot since the fault has already ended one of a program.
func endFault(w *world.World, h *world.Host, f schedule.Fault, boot uint32) {
	if slices.Contains(disturbances, f.Kind) {
		disturb(w, h, f, -1)
		return
	}
	if !h.On || boot != h.Boots {
		return
	}
	switch api := h.API; f.Kind {
	case schedule.KillLB:
		if !h.LB.On && h.Joined {
			balancer.Start(w, h)
		}
	case schedule.StopLB:
		if h.LB.On && h.LB.Hung {
			balancer.Resume(w, h)
		}
	case schedule.StopAPI:
		if api.Hung {
			api.Hung = false
			balancer.SetAPI(w, h, api)
		}
	case schedule.EndAPI:
		if api.Draining {
			balancer.SetAPI(w, h, world.Server{})
			if f.For > 0 {
				w.StartPart(h, world.PartAPI, f.For)
			}
		}
	default:
		if p, ok := restarted[f.Kind]; ok {
			startPart(w, h, p, boot)
		}
	}
}

// restarted are the parts that start again at the end of a fault.
var restarted = map[schedule.Kind]world.Part{
	schedule.KillAPI: world.PartAPI, schedule.KillMCS: world.PartMCS,
	schedule.KillMonitor: world.PartMonitor, schedule.KillDNS: world.PartDNS,
	schedule.KillRouter: world.PartRouter, schedule.DrainRouter: world.PartRouter,
}

// disturbances are the faults of the network, the processors and the disk.
var disturbances = []schedule.Kind{
	schedule.Cut, schedule.CutIn, schedule.CutOut, schedule.Loss, schedule.Delay,
	schedule.Duplicate, schedule.Hog, schedule.DiskFull,
}

// disturb changes the network or the processors of a host for the worse or, with -1, back. The last
// of two faults of one kind counts.
func disturb(w *world.World, h *world.Host, f schedule.Fault, sign int) {
	l := &h.Links
	if sign < 0 {
		f.Amount = 0
		w.Note(h, "no more "+string(f.Kind))
	}
	switch f.Kind {
	case schedule.Cut:
		l.InCut, l.OutCut = max(0, l.InCut+sign), max(0, l.OutCut+sign)
	case schedule.CutIn:
		l.InCut = max(0, l.InCut+sign)
	case schedule.CutOut:
		l.OutCut = max(0, l.OutCut+sign)
	case schedule.Loss:
		l.Loss = f.Amount
	case schedule.Delay:
		l.Delay = f.Amount
	case schedule.Duplicate:
		l.Duplicate = f.Amount
	case schedule.Hog:
		l.Hog = f.Amount
	default:
		return
	}
	l.Quiet = w.Now
	trace.Mark(&h.Film.Away, w.Now, l.InCut+l.OutCut > 0)
	w.Dirty = true
	balancer.WakeAll(w)
}
