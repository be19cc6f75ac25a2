package supervisor

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/router"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/trace"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// StartKeepalived starts the instance of a keepalived that has read its configuration.
func StartKeepalived(w *world.World, h *world.Host, gen uint32) {
	r, s := &h.Router, &h.Supervisor
	if gen != s.Run || !h.On || r.Runs || s.Stopped || !Eligible(w, h) {
		return
	}
	r.Runs, r.Frozen, r.Waiting = true, false, nil
	r.Process++
	r.ReceivedAt = -1
	s.Releasing, s.Started = false, w.Now
	r.State, r.Priority = world.Stopped, 0
	router.SetPriority(w, h, Priority(w, h))
	w.Dirty = true
	if Faulty(w, h) {
		r.State = world.Faulted
		w.Note(h, "FAULT")
		return
	}
	router.EnterBackup(w, h)
}

// Eligible reports whether a host is to have its instance: the bootstrap machine until it has
// released the VIP, a node by the product's gate.
func Eligible(w *world.World, h *world.Host) bool {
	if h.Role == role.Bootstrap {
		return h.Joined && h.Release.Holds()
	}
	return h.Joined && election.Gate(election.Candidacy{
		Kind: w.Kind, APISeen: h.Served || w.Ungated, RanksTaken: !w.IsCandidate(h),
		Unicast: true, Named: h.Knows[h.Index], Elects: w.Elects(h),
	}) == election.Eligible
}

// Restart starts keepalived after a pause, if it may run.
func Restart(w *world.World, h *world.Host, pause time.Duration) {
	s := &h.Supervisor
	if s.Dead {
		return
	}
	s.Run++
	w.After(pause+w.Take(world.Startup), h.Event(world.EvStart, s.Run))
}

// Freeze stops keepalived by a signal until its supervisor's next beat.
func Freeze(w *world.World, h *world.Host) {
	r := &h.Router
	if !r.Runs || r.Frozen {
		return
	}
	r.Frozen = true
	w.Dirty = true
	trace.Mark(&h.Film.Away, w.Now, true)
	w.At(w.OnGrid(h.Supervisor.Beat, vrrp.Beat), h.Event(world.EvResume, r.Process))
}

// Resume continues keepalived: the overdue advert first, then the adverts that have arrived
// meanwhile.
func Resume(w *world.World, h *world.Host, process uint32) {
	r := &h.Router
	if !h.On || !r.Runs || !r.Frozen || process != r.Process {
		return
	}
	r.Frozen, r.ResumedAt = false, w.Now
	w.Dirty = true
	trace.Mark(&h.Film.Away, w.Now, false)
	if r.State == world.Master && r.Due <= w.Now {
		router.Advertise(w, h, r.Priority)
		router.Arm(w, h, w.Timing.Advert)
	}
	ReadTracks(w, h, r.Process)
	waiting := r.Waiting
	r.Waiting = nil
	for _, a := range waiting {
		router.Receive(w, h, a)
	}
	if r.State == world.Backup && r.Due <= w.Now {
		router.Arm(w, h, 0)
	}
}
