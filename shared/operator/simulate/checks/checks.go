// Package checks is a node's health checks, and the monitor that makes them, in virtual time.
package checks

import (
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/trace"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Actual is the result of a probe now, and whether the probe times out.
func Actual(w *world.World, h *world.Host, name vrrp.CheckName) (passes, hangs bool) {
	works := vrrp.Signals{
		LB: h.LB.On && !h.LB.Hung && h.LB.Redirect, API: !h.LB.Hung && h.API.Ready(), MCS: h.MCS,
		Router: h.Route.On, RouterReady: h.Route.Ready,
		DefaultRouter: h.Route.On && h.Route.Standard, DNS: h.DNS,
	}
	switch name {
	case vrrp.CheckLB:
		hangs = h.LB.Hung
	case vrrp.CheckBoth:
		hangs = h.LB.Hung || !works.LB && h.API.Hung
	}
	return works.Passes(name), hangs
}

// Wake schedules probes of the checks whose state is wrong.
func Wake(w *world.World, h *world.Host) {
	for i := range h.Checks {
		k := &h.Checks[i]
		if passes, _ := Actual(w, h, k.Check); !k.Probing && h.On && h.Monitor &&
			passes != k.Latch.Passes {
			k.Probing = true
			w.At(w.OnGrid(k.Phase, k.Policy.Interval), h.Event(world.EvProbe, k.Gen).About(i))
		}
	}
}

// Probe begins a probe of a check.
func Probe(w *world.World, h *world.Host, i int, gen uint32) {
	k := &h.Checks[i]
	if gen != k.Gen || !h.On {
		return
	}
	passes, hangs := Actual(w, h, k.Check)
	found, takes := health.Failed, w.Take(world.Answers)
	switch {
	case passes:
		found = health.Passed
	case k.Check == vrrp.CheckIngress && !h.Route.On:
		found, takes = health.Refused, 0 // by the kernel
	}
	if hangs {
		takes = k.Policy.Timeout
	}
	w.After(takes, h.Event(world.EvProbeResult, k.Gen).About(i).With(int32(found)))
}

// Conclude applies the result of a probe.
func Conclude(w *world.World, h *world.Host, i int, found int32, gen uint32) {
	k := &h.Checks[i]
	if gen != k.Gen || !h.On {
		return
	}
	was, unserved := k.Latch.Passes, isUnserved(w, h)
	k.Latch = k.Latch.Next(health.Finding(found), k.Policy)
	if k.Latch.Passes != was {
		w.Rules.Health[h.Index] = w.Now
		trace.Mark(&h.Film.Checks[i], w.Now, k.Latch.Passes)
		written := w.Take(world.Rounds)
		w.After(written+w.Take(world.TrackRead), h.Event(world.EvTrack, h.Router.Process))
		if !unserved && isUnserved(w, h) {
			w.After(written+w.Take(world.Notifies), h.Event(world.EvUnserved, h.Router.Process))
		}
	}
	if passes, _ := Actual(w, h, k.Check); k.Latch == (health.Latch{Passes: passes}) {
		k.Probing = false
		return
	}
	w.At(w.OnGrid(k.Phase, k.Policy.Interval), h.Event(world.EvProbe, k.Gen).About(i))
}

// isUnserved reports whether the monitor marks the host's VIP as not served.
func isUnserved(w *world.World, h *world.Host) bool {
	return w.Candidates().Unserved(w.Kind, w.NodesKnown(h), h.Passes)
}

// Kill kills the monitor. Its last results count until the supervisor has missed the heartbeat.
func Kill(w *world.World, h *world.Host) {
	h.Monitor = false
	h.Beats++
	Forget(w, h)
	w.After(vrrp.Silence+w.Between(0, vrrp.Beat), h.Event(world.EvHeartbeatLost, h.Beats))
}

// Forget ends all probes.
func Forget(w *world.World, h *world.Host) {
	for i := range h.Checks {
		k := &h.Checks[i]
		k.Latch, k.Probing = health.Latch{Passes: k.Latch.Passes}, false
		k.Gen++
	}
}

// HeartbeatLost fails the checks of a node after its monitor's heartbeat has timed out. Checks that
// are faults stay as they are.
func HeartbeatLost(w *world.World, h *world.Host, gen uint32) {
	if !h.On || h.Monitor || gen != h.Beats {
		return
	}
	for i := range h.Checks {
		if k := &h.Checks[i]; !k.Fault && k.Latch.Passes {
			k.Latch.Passes = false
			trace.Mark(&h.Film.Checks[i], w.Now, false)
		}
	}
	w.Rules.Health[h.Index] = w.Now
	w.ScheduleTracks(h)
}

// Start starts the monitor from the results in the tracked files.
func Start(w *world.World, h *world.Host) {
	if h.Monitor || h.Role == role.Bootstrap {
		return
	}
	h.Monitor = true
	h.Beats++
	Wake(w, h)
}
