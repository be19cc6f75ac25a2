package simulate

import (
	"github.com/onprem-infra/onprem-infra/shared/role"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
)

// server is an API server.
type server struct {
	on, hung, draining bool
	gen                uint32
}

func (s server) ready() bool { return s.health() == health.Ready }

// health is what a probe that waits until its timeout finds.
func (s server) health() health.API {
	switch {
	case !s.on || s.hung:
		return health.Gone
	case s.draining:
		return health.ShuttingDown
	default:
		return health.Ready
	}
}

// balancer is HAProxy, and the redirect that leads to it.
type balancer struct {
	on, hung bool
	redirect bool
	servers  []behind // by host
	phase    time.Duration
	turn     int // of the round robin
	gen      uint32
}

// behind is a server as a balancer sees it.
type behind struct {
	known  bool
	up     bool
	run    int  // looks in a row that contradict up
	errors int  // connections in a row that failed
	looks  bool // one is due
	phase  time.Duration
}

// anyUp says whether a server is up.
func (b *balancer) anyUp() bool {
	for i := range b.servers {
		if b.servers[i].known && b.servers[i].up {
			return true
		}
	}
	return false
}

// The parts of a look at a server.
const (
	lookBegins int32 = iota
	lookPassed
	lookFailed
)

// answer is what a balancer's look at a server would find now, and how long it would wait.
func (w *world) answer(g, h *host) (passes bool, takes time.Duration) {
	switch {
	case g != h && (!reaches(g, h) || !reaches(h, g)):
		return false, health.Connect
	case h.api.hung:
		return false, w.Timing.Server.Inter
	default:
		return h.api.ready(), w.some(answers)
	}
}

// pokeServers wakes every balancer that believes of a server what is not so.
func (w *world) pokeServers(h *host) {
	if h.role != role.Master {
		return
	}
	for _, g := range w.hosts {
		w.pokeServer(g, h)
	}
}

// pokeAll is for when the network has changed, or a balancer has.
func (w *world) pokeAll() {
	for _, h := range w.hosts {
		w.pokeServers(h)
	}
}

func (w *world) pokeServer(g, h *host) {
	b := &g.lb.servers[h.index]
	if !g.on || !g.lb.on || g.lb.hung || !b.known || b.looks {
		return
	}
	if passes, _ := w.answer(g, h); passes == b.up {
		return
	}
	b.looks = true
	w.at(w.onGrid(b.phase, w.Timing.Server.Inter), event{kind: evServer, host: int8(g.index), other: int8(h.index), arg: lookBegins, gen: g.lb.gen})
}

// lookAtServer is a look of g's balancer at the server of h, or its end.
func (w *world) lookAtServer(g, h *host, step int32, gen uint32) {
	b := &g.lb.servers[h.index]
	if gen != g.lb.gen || !g.on || !g.lb.on || !b.known {
		return
	}
	if g.lb.hung { // it goes on where it was
		b.looks = false
		return
	}
	again := event{kind: evServer, host: int8(g.index), other: int8(h.index), arg: lookBegins, gen: gen}
	if step == lookBegins {
		passes, takes := w.answer(g, h)
		again.arg = lookFailed
		if passes {
			again.arg = lookPassed
		}
		w.after(takes, again)
		return
	}
	passed := step == lookPassed
	if passed != b.up {
		b.run++
	} else {
		b.run = 0
	}
	enough := w.Timing.Server.Fall
	if passed {
		enough = w.Timing.Server.Rise
	}
	if b.run >= enough {
		w.turnServer(g, h, passed)
	}
	if truth, _ := w.answer(g, h); b.run == 0 && truth == b.up {
		b.looks = false
		return
	}
	w.after(w.Timing.Server.FastInter, again)
}

// turnServer marks a server up or down. When it was the only one, the monitor takes the redirect
// away, and back.
func (w *world) turnServer(g, h *host, up bool) {
	b := &g.lb.servers[h.index]
	before := g.lb.anyUp()
	b.up, b.run, b.errors = up, 0, 0
	if up {
		w.mayBeServed(g)
	}
	if g.lb.anyUp() != before {
		w.at(w.onGrid(g.lb.phase, w.Timing.Redirect.Interval), event{kind: evMonitor, host: int8(g.index), gen: g.lb.gen})
	}
}

// startLB is a new HAProxy. Its servers are down until they have passed one check.
func (w *world) startLB(h *host) {
	h.lb.on, h.lb.hung = true, false
	h.lb.gen++
	for i, other := range w.hosts {
		known := other.role == role.Master && h.knows&(1<<i) != 0
		h.lb.servers[i] = behind{known: known, run: w.Timing.Server.Rise - 1, phase: w.between(0, w.Timing.Server.Inter)}
		if known {
			w.firstLook(h, other)
		}
	}
	w.poke(h)
}

// firstLook is at a server that is new to a balancer.
func (w *world) firstLook(g, h *host) {
	b := &g.lb.servers[h.index]
	b.looks = true
	w.after(w.between(0, w.Timing.Server.Inter), event{kind: evServer, host: int8(g.index), other: int8(h.index), arg: lookBegins, gen: g.lb.gen})
}

// killLB is a HAProxy that is gone, which wakes the monitor.
func (w *world) killLB(h *host) {
	h.lb.on, h.lb.hung = false, false
	h.lb.gen++
	for i := range h.lb.servers {
		h.lb.servers[i].up = false
	}
	w.after(w.some(turns), event{kind: evMonitor, host: int8(h.index), gen: h.lb.gen})
	w.poke(h)
}

// stopLB is one that answers nobody: the monitor waits for several answers.
func (w *world) stopLB(h *host) {
	h.lb.hung = true
	h.lb.gen++
	asks := w.Timing.Redirect
	late := asks.Detects(asks.Timeout, asks.Timeout) - asks.Interval // from the first question on
	w.at(w.onGrid(h.lb.phase, asks.Interval)+late, event{kind: evMonitor, host: int8(h.index), gen: h.lb.gen})
	w.poke(h)
}

// continueLB is one that answers again.
func (w *world) continueLB(h *host) {
	h.lb.hung = false
	h.lb.gen++
	for i := range h.lb.servers {
		h.lb.servers[i].looks = false
	}
	w.at(w.onGrid(h.lb.phase, w.Timing.Redirect.Interval), event{kind: evMonitor, host: int8(h.index), gen: h.lb.gen})
	w.poke(h)
	for _, other := range w.hosts {
		w.pokeServer(h, other)
	}
}

// monitor looks at HAProxy and has the redirect follow.
func (w *world) monitor(h *host, _ int32, gen uint32) {
	if gen != h.lb.gen || !h.on {
		return
	}
	if on := h.lb.on && !h.lb.hung && h.lb.anyUp(); on != h.lb.redirect {
		turn := event{kind: evRedirect, host: int8(h.index), gen: gen}
		if on {
			turn.arg = 1
		}
		w.after(w.some(turns), turn)
	}
}

func (w *world) redirect(h *host, on bool, gen uint32) {
	if gen != h.lb.gen || !h.on || h.lb.redirect == on {
		return
	}
	h.lb.redirect = on
	mark(&h.film.redirect, w.now, on)
	w.note(h, map[bool]string{true: "redirect on", false: "redirect off"}[on])
	w.poke(h)
}
