package simulate

import (
	"github.com/onprem-infra/onprem-infra/shared/role"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// check is one of a node's checks. As long as it finds what it believes, its looks change nothing,
// and none is made.
type check struct {
	vrrp.Weight
	policy health.Policy
	phase  time.Duration
	latch  health.Latch
	looks  bool // one is due
	gen    uint32
}

// passes says whether a check passes as far as the node knows.
func (h *host) passes(name vrrp.CheckName) bool {
	return slices.ContainsFunc(h.checks, func(k check) bool { return k.Check == name && k.latch.Passes })
}

// truth is what a look would find now, and whether it would wait for its whole time.
func (w *world) truth(h *host, name vrrp.CheckName) (passes, hangs bool) {
	works := vrrp.Signals{
		LB: h.lb.on && !h.lb.hung && h.lb.redirect, API: !h.lb.hung && h.api.ready(), MCS: h.mcs,
		Router: h.route.on, RouterReady: h.route.ready, DefaultRouter: h.route.on && h.route.standard,
		DNS: h.dns,
	}
	switch name {
	case vrrp.CheckLB:
		hangs = h.lb.hung
	case vrrp.CheckBoth:
		hangs = h.lb.hung || !works.LB && h.api.hung
	}
	return works.Passes(name), hangs
}

// onGrid is the next moment of something that is done again and again.
func (w *world) onGrid(phase, every time.Duration) time.Duration {
	if every <= 0 {
		return w.now
	}
	next := w.now - (w.now-phase)%every
	for next <= w.now {
		next += every
	}
	return next
}

// poke wakes the checks of a host that believe what is not so.
func (w *world) poke(h *host) {
	for i := range h.checks {
		k := &h.checks[i]
		if passes, _ := w.truth(h, k.Check); !k.looks && h.on && h.monitor && passes != k.latch.Passes {
			k.looks = true
			w.at(w.onGrid(k.phase, k.policy.Interval), event{kind: evLook, host: int8(h.index), other: int8(i), gen: k.gen})
		}
	}
}

func (w *world) look(h *host, i int, gen uint32) {
	k := &h.checks[i]
	if gen != k.gen || !h.on {
		return
	}
	passes, hangs := w.truth(h, k.Check)
	found, takes := health.Failed, w.some(answers)
	if passes {
		found = health.Passed
	}
	if hangs {
		takes = k.policy.Timeout
	}
	w.after(takes, event{kind: evFinding, host: int8(h.index), other: int8(i), arg: int32(found), gen: k.gen})
}

func (w *world) found(h *host, i int, found int32, gen uint32) {
	k := &h.checks[i]
	if gen != k.gen || !h.on {
		return
	}
	was, unserved := k.latch.Passes, w.unserved(h)
	k.latch = k.latch.Next(health.Finding(found), k.policy)
	if k.latch.Passes != was {
		w.rules.health[h.index] = w.now
		mark(&h.film.checks[i], w.now, k.latch.Passes)
		told := w.some(turns)
		w.after(told+w.some(trackRead), event{kind: evTrack, host: int8(h.index), gen: h.router.process})
		if !unserved && w.unserved(h) {
			w.after(told+w.some(notifies), event{kind: evQuit, host: int8(h.index), gen: h.router.process})
		}
	}
	if passes, _ := w.truth(h, k.Check); k.latch == (health.Latch{Passes: passes}) {
		k.looks = false
		return
	}
	w.at(w.onGrid(k.phase, k.policy.Interval), event{kind: evLook, host: int8(h.index), other: int8(i), gen: k.gen})
}

// unserved says whether the monitor names the host's instance as one whose VIP is not served here.
func (w *world) unserved(h *host) bool {
	return w.candidates().Unserved(w.Kind, w.mastersKnown(h), h.passes)
}

// killMonitor ends the checks. What they last said counts until the supervisor has missed the
// heartbeat for too long.
func (w *world) killMonitor(h *host) {
	h.monitor = false
	h.silences++
	w.endChecks(h)
	w.after(vrrp.Silence+w.between(0, vrrp.Beat), event{kind: evSilent, host: int8(h.index), gen: h.silences})
}

// endChecks forgets what is being looked at.
func (w *world) endChecks(h *host) {
	for i := range h.checks {
		k := &h.checks[i]
		k.latch, k.looks = health.Latch{Passes: k.latch.Passes}, false
		k.gen++
	}
}

// silent is a supervisor that takes a node's health away as nobody says any more how it is. A fault
// stays what it is.
func (w *world) silent(h *host, gen uint32) {
	if !h.on || h.monitor || gen != h.silences {
		return
	}
	for i := range h.checks {
		if k := &h.checks[i]; !k.Fault && k.latch.Passes {
			k.latch.Passes = false
			mark(&h.film.checks[i], w.now, false)
		}
	}
	w.rules.health[h.index] = w.now
	w.tracks(h)
}

// startMonitor is a monitor that goes on from what the tracked files say.
func (w *world) startMonitor(h *host) {
	if h.monitor || h.role == role.Bootstrap {
		return
	}
	h.monitor = true
	h.silences++
	w.poke(h)
}
