package engine

import (
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/fabric"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/host"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/rules"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/session"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/world"
)

// heal ends a fault.
func (r *run) heal(f schedule.Fault) {
	w := r.World
	w.Note(f.Host, "no more "+string(f.Kind))
	w.Dirty = true
	switch f.Kind {
	case schedule.Cut, schedule.Unplug, schedule.Partition:
		for _, l := range r.links(f) {
			rules.Disturb(w, r.about(l))
			if f.Kind == schedule.Unplug {
				l.Gone--
			} else {
				l.Cuts--
			}
			w.Moved = true
			session.Check(w, l)
		}
	case schedule.IgnoreLength, schedule.OnePath, schedule.KeepRoutes:
		r.configure(f, -1)
	case schedule.FlapBFD, schedule.Join:
	default:
		box := w.Find(f.Host)
		r.disturb(f.Kind, box)
		if router := w.Router(box); router != nil {
			w.After(w.Take(world.Forwards), world.Event{Kind: world.EvForwards,
				Box: int16(box), Gen: router.Boots})
		} else {
			r.restart(f.Kind, w.Hosts[box])
		}
		if ofService(f.Kind) {
			r.disturb(f.Kind, box) // what has started may not serve yet
		}
	}
}

// restart starts again what a fault has ended on a host.
func (r *run) restart(k schedule.Kind, h *world.Host) {
	w := r.World
	switch k {
	case schedule.PowerOff:
		host.On(w, h, false)
	case schedule.KillAPI, schedule.StopAPI, schedule.EndAPI:
		host.Part(w, h, world.PartAPI)
	case schedule.KillLB, schedule.StopLB:
		host.Part(w, h, world.PartLB)
	case schedule.KillRouter:
		host.Part(w, h, world.PartIngress)
	case schedule.KillMonitor, schedule.EndMonitor:
		host.Part(w, h, world.PartMonitor)
	case schedule.StopBGP:
		host.Freeze(w, h, false)
	}
}

// routerOff cuts the power of a router.
func (r *run) routerOff(router *world.Router) {
	w := r.World
	router.On, router.Pending = false, false
	router.Boots++
	for v, t := range router.Tables {
		router.Tables[v] = fabric.New(t.Number, len(router.Ports))
		router.Tables[v].Ignores, router.Tables[v].One = t.Ignores, t.One
	}
	w.Moved = true
	session.Changed(w, router.Box)
}

// forwards is the end of a router's start: it forwards packets from now on.
func (r *run) forwards(box int, gen uint32) {
	w := r.World
	router := w.Router(box)
	if router.On || gen != router.Boots {
		return
	}
	rules.Disturb(w, box)
	router.On, w.Moved = true, true
	session.Changed(w, box)
}
