// Package supervisor is keepalived's parent, and the bootstrap machine's release, in virtual time.
package supervisor

import (
	"github.com/onprem-infra/onprem-infra/shared/bonus"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/router"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Priority is the priority that keepalived computes from its configuration and its tracked files.
func Priority(w *world.World, h *world.Host) int {
	p := int(w.Policy.Bootstrap)
	if w.Kind == vrrp.DNS {
		p = int(w.Policy.BootstrapDNS)
	}
	if h.Role != role.Bootstrap {
		bonuses := bonusOf(w, h)
		if bonuses == bonus.Releases {
			bonuses = bonus.Holder // it is a fault, which leaves the priority as it is
		}
		p = w.Candidates().Sum(h.Rank, bonuses, h.Passes)
	}
	if h.Supervisor.Releasing {
		p = int(vrrp.MinPriority)
	}
	return min(int(vrrp.MaxPriority), max(int(vrrp.MinPriority), p))
}

// Faulty reports whether a tracked file has the instance in the state FAULT: a check without a
// weight, or the bonus of a holder that releases the VIP.
func Faulty(w *world.World, h *world.Host) bool {
	return bonusOf(w, h) == bonus.Releases ||
		h.Role != role.Bootstrap && w.Candidates().Excludes(h.Passes)
}

// bonusOf is the bonus that the supervisor has written for the instance.
func bonusOf(w *world.World, h *world.Host) int {
	return h.Supervisor.Bonus.Number(w.Patience(), w.Clock())
}

// ReadTracks applies the tracked files.
func ReadTracks(w *world.World, h *world.Host, process uint32) {
	r := &h.Router
	if !r.Runs || r.Frozen || process != r.Process {
		return
	}
	switch faulty := Faulty(w, h); {
	case faulty && r.State == world.Master:
		router.Release(w, h, world.Faulted)
		r.Timer++
	case faulty && r.State == world.Backup:
		r.State = world.Faulted
		r.Timer++
		w.Note(h, "FAULT")
		w.Dirty = true
		router.NotifySupervisor(w, h)
	case !faulty && r.State == world.Faulted:
		router.SetPriority(w, h, Priority(w, h))
		router.EnterBackup(w, h)
	}
	router.SetPriority(w, h, Priority(w, h))
}

// vrrpStates are the states by keepalived's names.
var vrrpStates = map[world.State]supervised.State{
	world.Stopped: supervised.Init, world.Backup: supervised.Backup,
	world.Master: supervised.Master, world.Faulted: supervised.Fault,
}

// ReceiveState is a state of the instance that reaches the supervisor.
func ReceiveState(w *world.World, h *world.Host, state world.State, process uint32) {
	r, s := &h.Router, &h.Supervisor
	if process != r.Process || !h.On {
		return
	}
	s.Reported = state
	if s.Releasing && state != world.Master {
		Stop(w, h, s.Releases)
		return
	}
	was, waited := bonusOf(w, h), s.Bonus.Settles(0)
	s.Bonus = s.Bonus.Next(vrrpStates[state], w.Clock())
	if since := s.Bonus.Settles(0); !since.IsZero() && !since.Equal(waited) {
		w.After(w.Patience(), h.Event(world.EvSettled, 0))
	}
	if was == bonus.Releases && state != world.Master && state != world.Backup {
		w.ScheduleTracks(h) // the fault ends with the VIP
	}
	if was != bonusOf(w, h) && h.Role != role.Bootstrap {
		w.ScheduleTracks(h)
	}
}

// ReleaseUnserved releases a VIP that the host does not serve, once each time.
func ReleaseUnserved(w *world.World, h *world.Host, process uint32) {
	if r := &h.Router; process == r.Process && h.On && r.State == world.Master {
		h.Supervisor.Bonus = h.Supervisor.Bonus.Release()
		w.Note(h, "releases")
		w.ScheduleTracks(h)
	}
}

// Settled reads the tracked files again if the instance has settled.
func Settled(w *world.World, h *world.Host) {
	if h.Supervisor.Bonus.Settles(w.Patience()).Equal(w.Clock()) {
		w.ScheduleTracks(h)
	}
}
