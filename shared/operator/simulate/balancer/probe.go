// Package balancer is HAProxy with its redirect, the API servers, and a client, in virtual time.
package balancer

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// probeResult is the result of a probe of a server now, and how long the probe takes.
func probeResult(w *world.World, g, h *world.Host) (passes bool, takes time.Duration) {
	switch {
	case g != h && (!world.Reaches(g, h) || !world.Reaches(h, g)):
		return false, health.Connect
	case h.API.Hung:
		return false, w.Timing.Server.Inter
	default:
		return h.API.Ready(), w.Take(world.Answers)
	}
}

// wakeServers schedules probes of every balancer that has a wrong state for a server.
func wakeServers(w *world.World, h *world.Host) {
	if h.Role != role.Master {
		return
	}
	for _, g := range w.Hosts {
		wakeServer(w, g, h)
	}
}

// WakeAll schedules probes after a change of the network.
func WakeAll(w *world.World) {
	for _, h := range w.Hosts {
		wakeServers(w, h)
	}
}

// wakeServer schedules a probe if a balancer has a wrong state for a server.
func wakeServer(w *world.World, g, h *world.Host) {
	b := &g.LB.Servers[h.Index]
	if !g.On || !g.LB.On || g.LB.Hung || !b.Known || b.Probing {
		return
	}
	if passes, _ := probeResult(w, g, h); passes == b.Up {
		return
	}
	b.Probing = true
	w.At(w.OnGrid(b.Phase, w.Timing.Server.Inter),
		g.Event(world.EvServerProbe, g.LB.Gen).About(h.Index).With(probeBegins))
}

// The parts of a probe of a server.
const (
	probeBegins int32 = iota
	probePassed
	probeFailed
)

// ProbeServer begins a probe of a server, or handles its result.
func ProbeServer(w *world.World, g, h *world.Host, step int32, gen uint32) {
	b := &g.LB.Servers[h.Index]
	if gen != g.LB.Gen || !g.On || !g.LB.On || !b.Known {
		return
	}
	if g.LB.Hung { // Resume schedules probes again
		b.Probing = false
		return
	}
	again := g.Event(world.EvServerProbe, gen).About(h.Index).With(probeBegins)
	if step == probeBegins {
		passes, takes := probeResult(w, g, h)
		again.Arg = probeFailed
		if passes {
			again.Arg = probePassed
		}
		w.After(takes, again)
		return
	}
	passed := step == probePassed
	if passed != b.Up {
		b.Streak++
	} else {
		b.Streak = 0
	}
	enough := w.Timing.Server.Fall
	if passed {
		enough = w.Timing.Server.Rise
	}
	if b.Streak >= enough {
		markServer(w, g, h, passed)
	}
	if truth, _ := probeResult(w, g, h); b.Streak == 0 && truth == b.Up {
		b.Probing = false
		return
	}
	w.After(w.Timing.Server.FastInter, again)
}

// markServer marks a server up or down. The first server up and the last one down wake the monitor.
func markServer(w *world.World, g, h *world.Host, up bool) {
	b := &g.LB.Servers[h.Index]
	before := g.LB.AnyUp()
	b.Up, b.Streak, b.Errors = up, 0, 0
	if up {
		scheduleGate(w, g)
	}
	if g.LB.AnyUp() != before {
		w.At(w.OnGrid(g.LB.Phase, w.Timing.Redirect.Interval),
			g.Event(world.EvMonitorRound, g.LB.Gen))
	}
}

// FirstProbe schedules the probe of a server that is new to a balancer.
func FirstProbe(w *world.World, g, h *world.Host) {
	b := &g.LB.Servers[h.Index]
	b.Probing = true
	w.After(w.Between(0, w.Timing.Server.Inter),
		g.Event(world.EvServerProbe, g.LB.Gen).About(h.Index).With(probeBegins))
}

// scheduleGate schedules the moment at which a node sees that the API works.
func scheduleGate(w *world.World, h *world.Host) {
	if !h.Served {
		w.After(w.Between(0, health.GateInterval), h.Event(world.EvGate, h.Boots))
	}
}
