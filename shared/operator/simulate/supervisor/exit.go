package supervisor

import (
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/router"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// RemoveVIP removes an orphaned VIP.
func RemoveVIP(w *world.World, h *world.Host, gen uint32) {
	if gen == h.Router.Adding && h.On {
		router.SetVIP(w, h, false)
	}
}

// KillVRRP kills the VRRP process: the supervisor removes the VIP at once, and the process starts
// again.
func KillVRRP(w *world.World, h *world.Host) {
	r, s := &h.Router, &h.Supervisor
	if !r.Runs {
		return
	}
	router.Exit(w, h)
	s.Forget()
	w.After(w.Take(world.Strips), h.Event(world.EvRemoveVIP, r.Adding))
	if s.Releasing {
		Stop(w, h, s.Releases)
		return
	}
	Restart(w, h, supervised.Pause(s.Ends))
	s.Ends++
}

// RemoveOrphan has the monitor remove the VIP if the supervisor is dead.
func RemoveOrphan(w *world.World, h *world.Host, gen uint32) {
	if h.Monitor {
		RemoveVIP(w, h, gen)
	}
}

// KillAll kills keepalived with its supervisor. The VIP stays until the monitor removes it, or
// until the container's next start.
func KillAll(w *world.World, h *world.Host) {
	s := &h.Supervisor
	if !h.Router.Runs {
		return
	}
	router.Exit(w, h)
	s.Forget()
	s.Dead, s.Releasing, s.Stopped, s.Ends = true, false, false, 0
	s.Run++
	s.Releases++
	if h.KnowsOthers() {
		w.After(vrrp.Outlives(w.Version, w.Timing.Advert)+w.Take(world.Strips),
			h.Event(world.EvOrphan, h.Router.Adding))
	}
	w.StartPart(h, world.PartKeepalived, w.Take(world.Restarts))
}
