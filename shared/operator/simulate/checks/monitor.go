package checks

import (
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/trace"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

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
