package balancer

import (
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/checks"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/trace"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// Start starts HAProxy. Its servers are down until they have passed one check.
func Start(w *world.World, h *world.Host) {
	h.LB.On, h.LB.Hung = true, false
	h.LB.Gen++
	for i, other := range w.Hosts {
		known := other.Role == role.Master && h.Knows[i]
		h.LB.Servers[i] = world.Backend{
			Known:  known,
			Streak: w.Timing.Server.Rise - 1,
			Phase:  w.Between(0, w.Timing.Server.Inter),
		}
		if known {
			FirstProbe(w, h, other)
		}
	}
	checks.Wake(w, h)
}

// Kill kills HAProxy, which wakes the monitor.
func Kill(w *world.World, h *world.Host) {
	h.LB.On, h.LB.Hung = false, false
	h.LB.Gen++
	for i := range h.LB.Servers {
		h.LB.Servers[i].Up = false
	}
	w.After(w.Take(world.Rounds), h.Event(world.EvMonitorRound, h.LB.Gen))
	checks.Wake(w, h)
}

// Hang stops HAProxy by a signal: the monitor finds out when several probes have timed out.
func Hang(w *world.World, h *world.Host) {
	h.LB.Hung = true
	h.LB.Gen++
	asks := w.Timing.Redirect
	late := asks.DetectsLate() - asks.Interval // from the first probe on
	w.At(w.OnGrid(h.LB.Phase, asks.Interval)+late, h.Event(world.EvMonitorRound, h.LB.Gen))
	checks.Wake(w, h)
}

// Resume continues HAProxy.
func Resume(w *world.World, h *world.Host) {
	h.LB.Hung = false
	h.LB.Gen++
	for i := range h.LB.Servers {
		h.LB.Servers[i].Probing = false
	}
	w.At(w.OnGrid(h.LB.Phase, w.Timing.Redirect.Interval), h.Event(world.EvMonitorRound, h.LB.Gen))
	checks.Wake(w, h)
	for _, other := range w.Hosts {
		wakeServer(w, h, other)
	}
}

// MonitorRound is a round of the monitor: it schedules that the redirect follows HAProxy's state.
func MonitorRound(w *world.World, h *world.Host, gen uint32) {
	if gen != h.LB.Gen || !h.On {
		return
	}
	if on := h.LB.On && !h.LB.Hung && h.LB.AnyUp(); on != h.LB.Redirect {
		w.After(w.Take(world.Rounds), h.Event(world.EvRedirect, gen).If(on))
	}
}

// SetRedirect adds or removes the redirect.
func SetRedirect(w *world.World, h *world.Host, on bool, gen uint32) {
	if gen != h.LB.Gen || !h.On || h.LB.Redirect == on {
		return
	}
	h.LB.Redirect = on
	trace.Mark(&h.Film.Redirect, w.Now, on)
	w.Note(h, map[bool]string{true: "redirect on", false: "redirect off"}[on])
	checks.Wake(w, h)
}

// SetAPI sets the state of a host's API server.
func SetAPI(w *world.World, h *world.Host, s world.Server) {
	h.API = s
	trace.Mark(&h.Film.API, w.Now, s.Ready())
	if s.Ready() {
		w.Note(h, "API serves")
	}
	wakeServers(w, h)
	checks.Wake(w, h)
	w.Dirty = true
}
