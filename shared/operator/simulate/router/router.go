// Package router is keepalived's VRRP instance, as vrrp.c of version 2.2.7 has it, in virtual time.
package router

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/rules"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/trace"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// MasterDown is keepalived's VRRP_MS_DOWN_TIMER.
func MasterDown(w *world.World, r *world.Router) time.Duration {
	return vrrp.MasterDown(w.Version, vrrp.Priority(r.Priority), w.Timing.Advert)
}

// Arm sets the instance's timer.
func Arm(w *world.World, h *world.Host, d time.Duration) {
	r := &h.Router
	r.Timer++
	r.Due = w.Now + d
	w.At(r.Due+wakeUp(w, h), h.Event(world.EvTimer, r.Timer))
}

// wakeUp is how late a process runs.
func wakeUp(w *world.World, h *world.Host) time.Duration {
	if h.Links.Hog == 0 {
		return w.Take(world.Wakes)
	}
	return w.Between(0, world.Milliseconds(h.Links.Hog))
}

// Expire handles a timer that is due.
func Expire(w *world.World, h *world.Host, gen uint32) {
	r := &h.Router
	if !r.Runs || r.Frozen || gen != r.Timer {
		return
	}
	switch r.State {
	case world.Backup:
		takeOver(w, h)
	case world.Master:
		Advertise(w, h, r.Priority)
		Arm(w, h, w.Timing.Advert)
	}
}

// takeOver takes the VIP over. The advert is sent first, so that a former holder drops the address
// before the network learns the new one.
func takeOver(w *world.World, h *world.Host) {
	r := &h.Router
	rules.JudgeTakeover(w, h)
	r.State, r.MasterSince = world.Master, w.Now
	w.Dirty = true
	w.Note(h, "MASTER")
	Advertise(w, h, r.Priority)
	Arm(w, h, w.Timing.Advert)
	r.Adding++
	w.After(w.Take(world.AddTakes), h.Event(world.EvAddress, r.Adding))
	NotifySupervisor(w, h)
}

// names are the notes of the states that follow MASTER.
var names = map[world.State]string{
	world.Backup: "BACKUP", world.Faulted: "FAULT", world.Stopped: "ended",
}

// stepDown ends the state MASTER and removes the address.
func stepDown(w *world.World, h *world.Host, to world.State) {
	r := &h.Router
	r.State = to
	w.Note(h, names[to])
	r.Adding++
	w.After(w.Take(world.DropTakes), h.Event(world.EvDrop, r.Adding))
	w.Dirty = true
	NotifySupervisor(w, h)
}

// EnterBackup begins the state BACKUP.
func EnterBackup(w *world.World, h *world.Host) {
	r := &h.Router
	r.State = world.Backup
	r.Down = MasterDown(w, r)
	w.Note(h, "BACKUP")
	Arm(w, h, r.Down)
	w.Dirty = true
	NotifySupervisor(w, h)
}

// Exit ends keepalived. Its supervisor removes the orphaned VIP.
func Exit(w *world.World, h *world.Host) {
	r := &h.Router
	r.Runs, r.Frozen, r.State, r.Waiting = false, false, world.Stopped, nil
	r.Timer++
	r.Process++
	r.Adding++
	if n := len(h.Film.Priority); n > 0 && h.Film.Priority[n-1].Value >= 0 {
		h.Film.Priority = append(h.Film.Priority, trace.Step{At: w.Now, Value: -1})
	}
	r.Priority = 0
	w.Dirty = true
}

// Release advertises priority 0 and removes the address.
func Release(w *world.World, h *world.Host, to world.State) {
	if h.Router.State == world.Master {
		w.Rules.ReleasedAt = w.Now
		Advertise(w, h, 0)
		stepDown(w, h, to)
	}
}

// SetPriority is vrrp_set_effective_priority: a backup's timer moves by the difference of the two
// waits.
func SetPriority(w *world.World, h *world.Host, priority int) {
	r := &h.Router
	if priority == r.Priority {
		return
	}
	r.Priority, r.ChangedAt = priority, w.Now
	h.Film.Priority = append(h.Film.Priority, trace.Step{At: w.Now, Value: priority})
	former := r.Down
	r.Down = MasterDown(w, r)
	if r.State == world.Backup && r.Timer > 0 {
		Arm(w, h, max(0, r.Due-w.Now+r.Down-former))
	}
}

// NotifySupervisor sends the state to the supervisor by the FIFO, which keeps their order.
func NotifySupervisor(w *world.World, h *world.Host) {
	s := &h.Supervisor
	s.Notified = max(s.Notified, w.Now+w.Take(world.Notifies))
	w.At(s.Notified, h.Event(world.EvState, h.Router.Process).With(int32(h.Router.State)))
}
