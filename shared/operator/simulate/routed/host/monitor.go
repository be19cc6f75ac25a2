package host

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/world"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// checks are the names of the monitor's checks, in the order of Checks of a host.
func checks() [3]vrrp.CheckName {
	return [...]vrrp.CheckName{vrrp.CheckLB, vrrp.CheckBoth, vrrp.CheckIngress}
}

// Policy is how a check is made.
func Policy(w *world.World, check int) health.Policy { return w.Checks.Checks[checks()[check]] }

// has reports whether a host makes a check.
func has(w *world.World, h *world.Host, check int) bool {
	if checks()[check] == vrrp.CheckIngress {
		return w.Announces(h.Index, schedule.Ingress)
	}
	return w.IsMaster(h.Index)
}

// find is the result of a probe now; late means that only the probe's timeout gives it.
func find(w *world.World, h *world.Host, check int) (f health.Finding, late bool) {
	passed := false
	switch checks()[check] {
	case vrrp.CheckLB:
		passed, late = h.Backed, h.LB.On && h.LB.Hung
	case vrrp.CheckBoth:
		passed = h.Backed || h.Ready
		late = h.LB.On && h.LB.Hung || h.API.On && h.API.Hung
	default:
		if !h.Ingress.On {
			return health.Refused, false
		}
		passed, late = !h.Ingress.Hung, h.Ingress.Hung
	}
	if passed {
		return health.Passed, false
	}
	return health.Failed, late
}

// Observe has the monitor probe what has changed.
func Observe(w *world.World, h *world.Host) {
	if !h.On || !h.Watches || w.Defect == schedule.Blind && w.Now >= 0 {
		return
	}
	for i := range h.Checks {
		if !has(w, h, i) {
			continue
		}
		c := &h.Checks[i]
		found, _ := find(w, h, i)
		if (found == health.Passed) != c.Passes && !c.Pending {
			c.Pending = true
			p := Policy(w, i)
			w.After(p.Interval-(w.Now-c.Phase)%p.Interval, probe(h, i, world.EvProbe))
		}
	}
	watchPorts(w, h)
	redirect(w, h)
}

func probe(h *world.Host, i int, kind world.EventKind) world.Event {
	return world.Event{Kind: kind, Box: int16(h.Index), Arg: int32(i), Gen: h.Starts}
}

// Probe is a probe of a check, or its timeout.
func Probe(w *world.World, h *world.Host, i int, timeout bool) {
	p := Policy(w, i)
	found, late := find(w, h, i)
	if late && !timeout {
		w.After(p.Timeout, probe(h, i, world.EvLate))
		return
	}
	pause := p.Interval
	if timeout {
		found, pause = health.Failed, max(0, p.Interval-p.Timeout)
	}
	c := &h.Checks[i]
	before := c.Passes
	c.Latch = c.Next(found, p)
	if c.Pending = (found == health.Passed) != c.Passes; c.Pending {
		w.After(max(pause, world.Next), probe(h, i, world.EvProbe))
	}
	if before != c.Passes {
		Wish(w, h)
	}
	Observe(w, h)
}

// Wish is what the monitor wants of the speaker by its checks.
func Wish(w *world.World, h *world.Host) {
	if h.Index == 0 || !h.Watches {
		return
	}
	of := bgp.Health{Balancer: h.Checks[0].Passes, API: h.Checks[1].Passes}
	v := schedule.API
	if !w.IsMaster(h.Index) {
		v, of = schedule.Ingress, bgp.Health{Balancer: h.Checks[2].Passes}
	}
	policy := w.Policy(v)
	if w.Defect == schedule.Equal {
		policy.Bootstrap = false
	}
	grade, ok := policy.OfNode(h.Index-1, of, false)
	seen := h.Seen || w.Defect == schedule.Ungated
	gate := election.Gate(election.Candidacy{Kind: kind(v), APISeen: seen})
	ok = ok && gate == election.Eligible
	if h.Wish[v] != ok || h.Route[v].Grade != grade {
		h.Wish[v], h.Route[v] = ok, route(w, v, grade)
		Wake(w, h)
	}
}

// route is how a host announces a VIP with a grade.
func route(w *world.World, v schedule.VIP, grade bgp.Grade) speak.Route {
	return speak.Route{Grade: grade, Demotions: w.Policy(v).Demotions(grade)}
}

func kind(v schedule.VIP) vrrp.Kind {
	if v == schedule.Ingress {
		return vrrp.Ingress
	}
	return vrrp.API
}

// Gate is a probe of whether the API works behind a node's balancer, until it has.
func Gate(w *world.World, h *world.Host) {
	if h.Seen = h.Seen || h.Backed; h.Seen {
		Wish(w, h)
		return
	}
	w.After(health.GateInterval, probe(h, 0, world.EvGate))
}

// Watch starts the monitor, with the states of its checks that an earlier run left.
func Watch(w *world.World, h *world.Host) {
	if !h.On || h.Watches {
		return
	}
	h.Watches, h.Died = true, false
	h.Starts++
	for i := range h.Checks {
		c := &h.Checks[i]
		c.Pending, c.Phase = false, time.Duration(w.Random.Int64N(int64(time.Duration(1)<<40)))
		if p := Policy(w, i); p.Interval > 0 {
			c.Phase = w.Now - c.Phase%p.Interval
		}
	}
	h.Behind = [2]world.Ports{}
	if w.IsMaster(h.Index) {
		Gate(w, h)
	}
	if h.Index == 0 {
		w.After(0, probe(h, 0, world.EvRelease))
	}
	Wish(w, h)
	Observe(w, h)
	Wake(w, h)
}

// Unwatch ends the monitor, in order.
func Unwatch(w *world.World, h *world.Host) {
	if h.Watches {
		h.Watches, h.Beat = false, w.Now-w.Take(world.Beats)
		h.Starts++
	}
}

// KillMonitor kills the monitor, which the speaker notices.
func KillMonitor(w *world.World, h *world.Host) {
	if h.Watches {
		Unwatch(w, h)
		w.After(w.Take(world.Notices), probe(h, 0, world.EvNotice))
	}
}

// Notice has the speaker know that the monitor has died, if no other one has started.
func Notice(w *world.World, h *world.Host, gen uint32) {
	if gen == h.Starts && h.On {
		h.Died = true
		Wake(w, h)
	}
}

// redirect schedules the redirect's change if it does not match the balancer's state.
func redirect(w *world.World, h *world.Host) {
	if !w.IsMaster(h.Index) {
		return
	}
	healthy := h.Backed
	switch {
	case healthy == h.Redirect:
		h.Redirects++
		h.Redirecting = false
	case h.Redirecting:
	case healthy || !h.LB.Hung:
		redirectIn(w, h, vrrp.Reaction)
	default:
		p := health.Redirect()
		redirectIn(w, h, time.Duration(w.Random.Int64N(int64(p.Interval)))+
			time.Duration(p.Fall)*p.Timeout)
	}
}

func redirectIn(w *world.World, h *world.Host, pause time.Duration) {
	h.Redirects++
	h.Redirecting = true
	w.After(pause, redirected(h))
}

func redirected(h *world.Host) world.Event {
	return world.Event{Kind: world.EvRedirect, Box: int16(h.Index), Gen: h.Redirects}
}

// Redirect sets or removes the redirect.
func Redirect(w *world.World, h *world.Host, gen uint32) {
	if gen == h.Redirects && h.On && h.Watches {
		h.Redirect, h.Redirecting, w.Dirty = !h.Redirect, false, true
	}
}
