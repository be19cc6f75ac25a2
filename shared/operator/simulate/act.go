package simulate

import (
	"github.com/onprem-infra/onprem-infra/shared/role"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// part is what runs on a host beside keepalived's supervisor.
type part int32

const (
	partKeepalived part = iota
	partLB
	partAPI
	partMCS
	partPower
	partNode // the Node object
	partRouter
	partDNS
	partMonitor
)

// begin does what a fault says.
func (w *world) begin(f Fault, i int32) {
	h := w.named(f.Host)
	if h == nil || !h.on || !h.joined && f.Kind != Join {
		return // there is nobody whom it could befall
	}
	w.note(h, string(f.Kind))
	switch f.Kind {
	case KillVRRP:
		w.die(h)
	case KillKeepalived:
		w.dieAltogether(h)
	case StopKeepalived, StopVRRP:
		w.freeze(h)
	case EndKeepalived:
		w.leave(h, f, h.role == role.Bootstrap)
	case PowerOff:
		w.powerOff(h)
		w.bootAfter(h, f.For)
	case Reboot:
		w.leave(h, f, false)
	case Join:
		w.join(h)
	case Part:
		w.part(h)
	case KillLB, StopLB, KillAPI, StopAPI, EndAPI, KillMCS, KillMonitor, KillRouter, DrainRouter, KillDNS:
		w.hurt(h, f, i)
	default:
		w.disturb(h, f, 1)
		w.healAfter(h, f, i)
	}
}

func (w *world) healAfter(h *host, f Fault, i int32) {
	if f.For > 0 {
		w.after(f.For, event{kind: evHealed, host: int8(h.index), arg: i, gen: h.boots})
	}
}

// hurt is a fault of what runs beside keepalived.
func (w *world) hurt(h *host, f Fault, i int32) {
	switch f.Kind {
	case KillLB:
		if !h.lb.on {
			return
		}
		w.killLB(h)
	case StopLB:
		if !h.lb.on || h.lb.hung {
			return
		}
		w.stopLB(h)
	case KillAPI:
		w.setAPI(h, server{gen: h.api.gen + 1})
	case StopAPI:
		if h.api.on {
			w.setAPI(h, server{on: true, hung: true, draining: h.api.draining, gen: h.api.gen + 1})
		}
	case EndAPI:
		if h.api.on && !h.api.draining {
			w.setAPI(h, server{on: true, draining: true, hung: h.api.hung, gen: h.api.gen + 1})
			w.after(w.Shutdown, event{kind: evHealed, host: int8(h.index), arg: i, gen: h.boots})
		}
		return
	case KillMCS:
		h.mcs = false
		w.poke(h)
	case KillMonitor:
		w.killMonitor(h)
	case KillRouter:
		h.route.on = false
		w.poke(h)
	case DrainRouter:
		h.route.ready = false
		w.poke(h)
	case KillDNS:
		h.dns = false
		w.poke(h)
	}
	w.healAfter(h, f, i)
}

// heal ends a fault.
func (w *world) heal(h *host, f Fault, i int32, boot uint32) {
	switch f.Kind {
	case Cut, CutIn, CutOut, Loss, Delay, Duplicate, Hog, DiskFull:
		w.disturb(h, f, -1)
		return
	}
	if !h.on || boot != h.boots { // what comes after a boot is well
		return
	}
	switch f.Kind {
	case KillLB:
		if !h.lb.on && h.joined {
			w.startLB(h)
		}
	case StopLB:
		if h.lb.on && h.lb.hung {
			w.continueLB(h)
		}
	case KillAPI:
		w.setAPI(h, server{on: true, gen: h.api.gen + 1})
	case StopAPI:
		if h.api.hung {
			w.setAPI(h, server{on: h.api.on, draining: h.api.draining, gen: h.api.gen + 1})
		}
	case EndAPI:
		if h.api.draining {
			w.setAPI(h, server{gen: h.api.gen + 1})
			if f.For > 0 {
				w.after(f.For, event{kind: evPart, host: int8(h.index), gen: h.boots, arg: int32(partAPI)})
			}
		}
	case KillMCS:
		h.mcs = true
		w.poke(h)
	case KillMonitor:
		w.startMonitor(h)
	case KillRouter, DrainRouter:
		h.route.on, h.route.ready = h.route.has, true
		w.poke(h)
	case KillDNS:
		h.dns = true
		w.poke(h)
	}
}

// disturb changes the network, or a host's processors, for the worse or, with -1, back. Of two
// faults of one kind the last one counts.
func (w *world) disturb(h *host, f Fault, sign int) {
	l := &h.links
	if sign < 0 {
		f.Amount = 0
		w.note(h, "no more "+string(f.Kind))
	}
	switch f.Kind {
	case Cut:
		l.inCut, l.outCut = max(0, l.inCut+sign), max(0, l.outCut+sign)
	case CutIn:
		l.inCut = max(0, l.inCut+sign)
	case CutOut:
		l.outCut = max(0, l.outCut+sign)
	case Loss:
		l.loss = f.Amount
	case Delay:
		l.delay = f.Amount
	case Duplicate:
		l.duplicate = f.Amount
	case Hog:
		l.hog = f.Amount
	default:
		return
	}
	l.quiet = w.now
	mark(&h.film.away, w.now, l.inCut+l.outCut > 0)
	w.dirty = true
	w.pokeAll()
}

// setAPI changes an API server.
func (w *world) setAPI(h *host, s server) {
	h.api = s
	mark(&h.film.api, w.now, s.ready())
	if s.ready() {
		w.note(h, "API serves")
	}
	w.pokeServers(h)
	w.poke(h)
	w.dirty = true
}

// powerOff ends everything on a host without a word.
func (w *world) powerOff(h *host) {
	if !h.on {
		return
	}
	w.resetRequests(h)
	h.on = false
	h.boots++
	w.end(h)
	h.router.vip = false
	h.api, h.mcs, h.route.on, h.dns = server{gen: h.api.gen + 1}, false, false, false
	h.lb.on, h.lb.hung, h.lb.redirect = false, false, false
	h.lb.gen++
	h.supervisor.run++
	h.supervisor.leave++
	h.supervisor.dead, h.supervisor.leaving, h.supervisor.left, h.supervisor.ends = false, false, false, 0
	h.supervisor.forget()
	h.release.gen++
	h.monitor = false
	w.endChecks(h)
	for i := range h.checks {
		h.checks[i].latch.Passes = false
		mark(&h.film.checks[i], w.now, false)
	}
	for _, s := range []*[]stretch{&h.film.holds, &h.film.redirect, &h.film.api} {
		mark(s, w.now, false)
	}
	mark(&h.film.away, w.now, true)
	mark(&h.film.off, w.now, true)
	w.dirty = true
	w.held()
	w.pokeAll()
}

func (w *world) bootAfter(h *host, pause time.Duration) {
	if pause > 0 {
		w.after(pause+shutdown.most, event{kind: evPart, host: int8(h.index), gen: h.boots, arg: int32(partPower)})
	}
}

// endParts ends in order what runs beside keepalived.
func (w *world) endParts(h *host) {
	if h.api.on {
		w.setAPI(h, server{on: true, draining: true, gen: h.api.gen + 1})
	}
	if h.lb.on {
		w.killLB(h)
	}
}

// startPart starts a part of a host.
func (w *world) startPart(h *host, p part, boot uint32) {
	if p == partPower {
		w.switchOn(h, boot)
		return
	}
	if boot != h.boots || !h.on {
		return
	}
	switch p {
	case partKeepalived:
		if !h.router.runs {
			w.setVIP(h, false) // an earlier one may have left it
		}
		h.supervisor.dead, h.supervisor.left = false, false
		w.restart(h, 0)
	case partLB:
		w.startLB(h)
	case partAPI:
		w.setAPI(h, server{on: true, gen: h.api.gen + 1})
	case partMCS:
		h.mcs = true
		w.poke(h)
	case partRouter:
		h.route.on, h.route.ready = h.route.has, true
		w.poke(h)
	case partDNS:
		h.dns = true
		w.poke(h)
	case partMonitor:
		w.startMonitor(h)
	case partNode:
		h.listed = true
		w.tellOf(h, true)
	}
}

// switchOn switches a host on. Its gate is as it was; what stood in /run is gone.
func (w *world) switchOn(h *host, boot uint32) {
	if h.on || boot > h.boots {
		return
	}
	h.on = true
	h.links.quiet = w.now
	mark(&h.film.away, w.now, h.links.inCut+h.links.outCut > 0)
	mark(&h.film.off, w.now, false)
	w.note(h, "boots")
	w.dirty = true
	w.startAll(h)
	w.pokeAll()
	switch {
	case h.listed:
		w.tellOf(h, true) // whoever missed it before
	case h.joined:
		w.register(h)
	}
}

func (w *world) startAll(h *host) {
	start := func(p part, takes span) {
		w.after(w.some(takes), event{kind: evPart, host: int8(h.index), gen: h.boots, arg: int32(p)})
	}
	start(partKeepalived, bootPods)
	start(partMonitor, bootPods)
	start(partRouter, bootPods)
	if w.Kind == vrrp.DNS {
		start(partDNS, bootPods)
	}
	if h.role == role.Master {
		start(partLB, bootPods)
		start(partAPI, bootAPI)
		start(partMCS, bootAPI)
	}
}

// join is a master that begins to run, and to be known.
func (w *world) join(h *host) {
	if h.joined {
		return
	}
	h.joined = true
	w.startAll(h)
	w.register(h)
}

// register is a kubelet that makes its Node.
func (w *world) register(h *host) {
	w.after(w.some(bootPods), event{kind: evPart, host: int8(h.index), gen: h.boots, arg: int32(partNode)})
}

// tellOf is the API's word of a Node that is new or gone, to those who run, and of those that it
// has to it.
func (w *world) tellOf(h *host, there bool) {
	says := event{kind: evLearn, host: int8(h.index)}
	if there {
		says.arg = 1
	}
	for _, other := range w.hosts {
		if !other.joined && other != h {
			continue
		}
		to := says
		to.host, to.other = int8(other.index), int8(h.index)
		w.after(w.some(watches), to)
		if there && other != h && other.listed {
			of := says
			of.other = int8(other.index)
			w.after(w.some(watches), of)
		}
	}
}

// part takes a host's Node away, after it has left.
func (w *world) part(h *host) {
	if !h.joined {
		return
	}
	h.joined, h.listed = false, false
	w.tellOf(h, false)
}
