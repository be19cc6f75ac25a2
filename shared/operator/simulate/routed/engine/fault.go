package engine

import (
	"fmt"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/host"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/rules"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/session"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/world"
)

// begin begins a fault.
func (r *run) begin(f schedule.Fault, i int32) {
	w := r.World
	w.Note(f.Host, string(f.Kind))
	if f.Kind != schedule.Join {
		r.clients.Begin(w)
	}
	w.Dirty = true
	switch f.Kind {
	case schedule.Cut, schedule.Unplug, schedule.FlapBFD, schedule.Partition:
		for _, l := range r.links(f) {
			r.breaks(f.Kind, l)
		}
	case schedule.IgnoreLength, schedule.OnePath, schedule.KeepRoutes:
		r.configure(f, +1)
	default:
		box := w.Find(f.Host)
		if !ofService(f.Kind) {
			r.disturb(f.Kind, box)
		}
		if router := w.Router(box); router != nil {
			r.routerOff(router)
		} else {
			r.ofPrograms(f, w.Hosts[box])
		}
		r.disturb(f.Kind, box) // again: how much a fault explains depends on what still runs
	}
	if f.For > 0 && f.Kind != schedule.Reboot && f.Kind != schedule.Upgrade {
		w.After(f.For, world.Event{Kind: world.EvHealed, Arg: i})
	}
}

// disturb has the rules know of a fault of a host or a router. What happens in order is none.
func (r *run) disturb(k schedule.Kind, box int) {
	switch {
	case k == schedule.Reboot, k == schedule.Upgrade, k == schedule.Join:
	case ofService(k):
		rules.Fails(r.World)
	default:
		rules.Disturb(r.World, box)
	}
}

// ofService reports whether a fault is one of what serves on a host, or of the monitor.
func ofService(k schedule.Kind) bool {
	switch k {
	case schedule.KillLB, schedule.StopLB, schedule.KillAPI, schedule.StopAPI, schedule.EndAPI,
		schedule.KillRouter, schedule.KillMonitor, schedule.EndMonitor:
		return true
	}
	return false
}

// links are the links that a fault is about: one, or those of a rack to the routers above it.
func (r *run) links(f schedule.Fault) (all []*world.Link) {
	if f.Kind != schedule.Partition {
		return append(all, r.Links[r.FindLink(f.Host)])
	}
	for _, l := range r.Links {
		b := r.Boxes[l.Boxes[0]]
		if b.Level == schedule.LeafLevel && fmt.Sprintf("rack-%d", b.Rack) == f.Host {
			all = append(all, l)
		}
	}
	return all
}

// breaks breaks a link.
func (r *run) breaks(k schedule.Kind, l *world.Link) {
	w := r.World
	rules.Disturb(w, r.about(l))
	switch k {
	case schedule.FlapBFD:
		session.Flap(w, l)
		return
	case schedule.Unplug:
		l.Gone++
	default:
		l.Cuts++
	}
	w.Moved = true
	session.Check(w, l)
}

// about is the host of a link; -1 for one between routers.
func (r *run) about(l *world.Link) int {
	if r.Router(l.Boxes[0]) != nil {
		return -1
	}
	return l.Boxes[0]
}

// configure changes the settings of a router.
func (r *run) configure(f schedule.Fault, by int) {
	w := r.World
	router := w.Router(w.Find(f.Host))
	rules.Disturb(w, router.Box)
	if f.Kind == schedule.KeepRoutes {
		if router.Keeps += by; router.Keeps == 0 {
			session.Forget(w, router)
		}
		return
	}
	for _, t := range router.Tables {
		if f.Kind == schedule.IgnoreLength {
			t.Ignores = by > 0
		} else {
			t.One = by > 0
		}
	}
	session.Rechoose(w, router)
}

// ofPrograms does a fault of a host.
func (r *run) ofPrograms(f schedule.Fault, h *world.Host) {
	w := r.World
	switch f.Kind {
	case schedule.PowerOff:
		host.Off(w, h)
	case schedule.Join:
		host.On(w, h, false)
	case schedule.Reboot, schedule.Upgrade:
		host.Leave(w, h, f)
	case schedule.KillLB, schedule.StopLB:
		stop(&h.LB, f.Kind == schedule.StopLB)
	case schedule.KillAPI, schedule.StopAPI:
		stop(&h.API, f.Kind == schedule.StopAPI)
	case schedule.EndAPI:
		if h.API.On {
			h.Draining = true
			w.After(world.LameDuck, world.Event{Kind: world.EvDrained, Box: int16(h.Index),
				Gen: h.API.Gen})
		}
	case schedule.KillRouter:
		stop(&h.Ingress, false)
	case schedule.KillMonitor:
		host.KillMonitor(w, h)
	case schedule.EndMonitor:
		host.Unwatch(w, h)
	case schedule.StopBGP:
		host.Freeze(w, h, true)
	case schedule.KillSpeaker:
		r.killSpeaker(h)
	default:
		host.Kill(w, h, daemons[f.Kind])
	}
}

// daemons are those that a fault kills.
var daemons = map[schedule.Kind]world.Part{schedule.KillBGP: world.PartBGP,
	schedule.KillBFD: world.PartBFD, schedule.KillZebra: world.PartZebra}

// stop ends a program, or has it hang.
func stop(p *world.Program, hangs bool) {
	if p.On {
		p.On, p.Hung = hangs, hangs
		p.Gen++
	}
}

func (r *run) killSpeaker(h *world.Host) {
	if h.On && h.Speaks {
		rebooting := h.Leaving && h.Then == schedule.Reboot
		host.Silence(r.World, h)
		if !rebooting {
			r.Start(h, world.PartSpeaker, r.Take(world.Restarts))
			return
		}
		if h.Rebooting = true; r.Elected != "" {
			return // the other side of the simulation ends the power
		}
		r.After(r.Take(world.Shutdown), world.Event{Kind: world.EvOff, Box: int16(h.Index),
			Gen: h.Boots})
	}
}

// off is the end of an orderly shutdown; the host boots again.
func (r *run) off(h *world.Host) {
	rules.Disturb(r.World, h.Index)
	pause := h.For
	host.Off(r.World, h)
	r.Start(h, world.PartPower, pause)
}
