package supervisor

import (
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/balancer"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/router"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Release releases the VIP in order. A holder that still serves is demoted and waits until another
// host has taken over; atOnce skips that wait.
func Release(w *world.World, h *world.Host, then schedule.Fault, atOnce bool) {
	r, s := &h.Router, &h.Supervisor
	s.After = then
	if s.Releasing && !atOnce {
		return // the patience of the first request goes on
	}
	s.Releases++
	s.Releasing = true
	if !r.Runs || r.State != world.Master || atOnce {
		Stop(w, h, s.Releases)
		return
	}
	w.Note(h, "releases")
	w.ScheduleTracks(h)
	patience := w.Patience()
	if h.Role == role.Bootstrap {
		patience = max(patience, w.Policy.ControlPlane.BootstrapPatience())
	}
	w.After(patience, h.Event(world.EvReleaseTimeout, s.Releases))
}

// Stop ends keepalived, which advertises priority 0 if it is still the holder.
func Stop(w *world.World, h *world.Host, gen uint32) {
	r, s := &h.Router, &h.Supervisor
	if !s.Releasing || gen != s.Releases || !h.On {
		return
	}
	s.Releasing, s.Stopped = false, true
	s.Run++
	if r.Runs {
		r.Frozen = false
		router.Release(w, h, world.Stopped)
		router.Exit(w, h)
		w.After(w.Take(world.DropTakes), h.Event(world.EvRemoveVIP, r.Adding))
	}
	s.Forget()
	w.Dirty = true
	then := s.After
	s.After = schedule.Fault{}
	switch then.Kind {
	case schedule.EndKeepalived:
		w.StartPart(h, world.PartKeepalived, then.For+w.Take(world.Startup))
	case schedule.Reboot:
		if s.Left = then; !w.Announces {
			ShutDown(w, h)
		}
	}
}

// ShutDown reboots a host that has released its VIPs.
func ShutDown(w *world.World, h *world.Host) {
	then := h.Supervisor.Left
	h.Supervisor.Left = schedule.Fault{}
	stopPrograms(w, h)
	w.After(w.Take(world.Shutdown), h.Event(world.EvPowerOff, 0))
	BootAfter(w, h, then.For)
}

// stopPrograms stops the programs beside keepalived in order.
func stopPrograms(w *world.World, h *world.Host) {
	if h.API.On {
		balancer.SetAPI(w, h, world.Server{On: true, Draining: true})
	}
	if h.LB.On {
		balancer.Kill(w, h)
	}
}

// BootAfter schedules the next boot.
func BootAfter(w *world.World, h *world.Host, pause time.Duration) {
	if pause > 0 {
		w.StartPart(h, world.PartPower, pause+world.Shutdown.Most)
	}
}

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
	Restart(w, h, s.Backoff.Next(w.Now-s.Started))
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
	s.Dead, s.Releasing, s.Stopped = true, false, false
	s.Backoff = supervised.Backoff{}
	s.Run++
	s.Releases++
	others := func(o *world.Host) bool { return o != h && h.Knows[o.Index] }
	if slices.ContainsFunc(w.Hosts, others) {
		w.After(vrrp.Outlives(w.Version, w.Timing.Advert)+w.Take(world.Strips),
			h.Event(world.EvOrphan, h.Router.Adding))
	}
	pause := w.Restart(&s.Container)
	s.Back = w.Now + pause
	w.StartPart(h, world.PartKeepalived, pause)
}
