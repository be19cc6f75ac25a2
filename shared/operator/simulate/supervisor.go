package simulate

import (
	"github.com/onprem-infra/onprem-infra/shared/role"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bonus"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// supervisor is keepalived's parent.
type supervisor struct {
	beat    time.Duration // the phase of its beats
	run     uint32        // the generation of keepalived's next start
	ends    int           // of keepalived, by itself
	leaving bool          // the track leave is set
	left    bool          // keepalived has been told to end, and stays ended
	leave   uint32        // the generation of the patience
	then    Fault         // what the leaving is for
	dead    bool          // it was killed with keepalived, and has not started again
	bonus   bonus.State   // of its instance
}

// priority is what keepalived makes of its configuration and its tracked files.
func (w *world) priority(h *host) int {
	p := int(w.Policy.Bootstrap)
	if w.Kind == vrrp.DNS {
		p = int(w.Policy.BootstrapDNS)
	}
	if h.role != role.Bootstrap {
		bonuses := w.bonusOf(h)
		if bonuses == bonus.Releases {
			bonuses = bonus.Holder // it is a fault, which leaves the priority as it is
		}
		p = w.candidates().Sum(h.rank, bonuses, h.passes)
	}
	if h.supervisor.leaving {
		p = int(vrrp.MinPriority)
	}
	return min(int(vrrp.MaxPriority), max(int(vrrp.MinPriority), p))
}

// faulty says whether a tracked file takes the node out of the election: one without a weight, or
// the bonus of a holder that gives the VIP up.
func (w *world) faulty(h *host) bool {
	return w.bonusOf(h) == bonus.Releases || h.role != role.Bootstrap && w.candidates().Excludes(h.passes)
}

// bonusOf is what the supervisor has written for the instance.
func (w *world) bonusOf(h *host) int { return h.supervisor.bonus.Number(w.patience(), w.clock()) }

// tracks has keepalived read its tracked files soon.
func (w *world) tracks(h *host) {
	w.after(w.some(trackRead), event{kind: evTrack, host: int8(h.index), gen: h.router.process})
}

// readTracks lets the tracked files count.
func (w *world) readTracks(h *host, process uint32) {
	r := &h.router
	if !r.runs || r.frozen || process != r.process {
		return
	}
	switch faulty := w.faulty(h); {
	case faulty && r.state == master:
		w.say(h, faulted)
		r.timer++
	case faulty && r.state == backup:
		r.state = faulted
		r.timer++
		w.note(h, "FAULT")
		w.dirty = true
		w.tellSupervisor(h)
	case !faulty && r.state == faulted:
		w.setPriority(h, w.priority(h))
		w.stand(h)
	}
	w.setPriority(h, w.priority(h))
}

// tellSupervisor is the word on the FIFO.
func (w *world) tellSupervisor(h *host) {
	w.after(w.some(notifies), event{kind: evBonus, host: int8(h.index), gen: h.router.process, arg: int32(h.router.state)})
}

// reported are keepalived's words for the states.
var reported = map[state]supervised.State{
	stopped: supervised.Init, backup: supervised.Backup, master: supervised.Master, faulted: supervised.Fault,
}

// report is a state of the instance that reaches the supervisor.
func (w *world) report(h *host, said state, process uint32) {
	r, s := &h.router, &h.supervisor
	if process != r.process || !h.on {
		return
	}
	if s.leaving && said != master {
		w.leaveNow(h, s.leave)
		return
	}
	was, waited := w.bonusOf(h), s.bonus.Settles(0)
	s.bonus = s.bonus.Next(reported[said], w.clock())
	if since := s.bonus.Settles(0); !since.IsZero() && !since.Equal(waited) {
		w.after(w.patience(), event{kind: evSettled, host: int8(h.index)})
	}
	if was == bonus.Releases && said != master && said != backup {
		w.tracks(h) // the fault ends with the VIP
	}
	if was != w.bonusOf(h) && h.role != role.Bootstrap {
		w.tracks(h)
	}
}

// quit is a holder on which nothing serves any more: it says farewell, once for each time that it
// comes to that.
func (w *world) quit(h *host, process uint32) {
	if r := &h.router; process == r.process && h.on && r.state == master {
		h.supervisor.bonus = h.supervisor.bonus.Release()
		w.note(h, "gives up")
		w.tracks(h)
	}
}

// settled is an instance that may have waited for long enough.
func (w *world) settled(h *host) {
	if h.supervisor.bonus.Settles(w.patience()).Equal(w.clock()) {
		w.tracks(h)
	}
}

// forget is a VRRP process that is gone: the next one begins.
func (s *supervisor) forget() { s.bonus = bonus.State{} }

// restart starts keepalived after a pause, if it is to run.
func (w *world) restart(h *host, pause time.Duration) {
	s := &h.supervisor
	if s.dead {
		return
	}
	s.run++
	w.after(pause+w.some(startup), event{kind: evStart, host: int8(h.index), gen: s.run})
}

// strip takes an address off that no instance answers for.
func (w *world) strip(h *host, gen uint32) {
	if gen == h.router.adding && h.on {
		w.setVIP(h, false)
	}
}

// die is a VRRP process that has been killed: the VIP is taken off at once, and another process
// comes.
func (w *world) die(h *host) {
	r, s := &h.router, &h.supervisor
	if !r.runs {
		return
	}
	w.end(h)
	s.forget()
	w.after(w.some(strips), event{kind: evStrip, host: int8(h.index), gen: r.adding})
	if s.leaving {
		w.leaveNow(h, s.leave)
		return
	}
	w.restart(h, pauses[min(s.ends, len(pauses)-1)])
	s.ends++
}

// outlived is a monitor that takes an address off for which there is no supervisor any more.
func (w *world) outlived(h *host, gen uint32) {
	if h.monitor {
		w.strip(h, gen)
	}
}

// dieAltogether leaves the VIP where it is until another router must have it, or else until the
// container's next start.
func (w *world) dieAltogether(h *host) {
	s := &h.supervisor
	if !h.router.runs {
		return
	}
	w.end(h)
	s.forget()
	s.dead, s.leaving, s.left, s.ends = true, false, false, 0
	s.run++
	s.leave++
	if h.knows&^(1<<h.index) != 0 {
		w.after(vrrp.Outlives(w.Version, w.Timing.Advert)+w.some(strips), event{kind: evOutlived, host: int8(h.index), gen: h.router.adding})
	}
	w.after(w.some(restarts), event{kind: evPart, host: int8(h.index), gen: h.boots, arg: int32(partKeepalived)})
}

// freeze stops keepalived until its supervisor's next beat.
func (w *world) freeze(h *host) {
	r := &h.router
	if !r.runs || r.frozen {
		return
	}
	r.frozen = true
	w.dirty = true
	mark(&h.film.away, w.now, true)
	w.at(w.onGrid(h.supervisor.beat, vrrp.Beat), event{kind: evThaw, host: int8(h.index), gen: r.process})
}

// thaw is a keepalived that goes on: what it should have said comes first, then what has arrived
// meanwhile.
func (w *world) thaw(h *host, process uint32) {
	r := &h.router
	if !h.on || !r.runs || !r.frozen || process != r.process {
		return
	}
	r.frozen, r.thawed = false, w.now
	w.dirty = true
	mark(&h.film.away, w.now, false)
	if r.state == master && r.due <= w.now {
		w.advertise(h, r.priority)
		w.arm(h, w.Timing.Advert)
	}
	w.readTracks(h, r.process)
	waiting := r.waiting
	r.waiting = nil
	for _, a := range waiting {
		w.arrive(h, a)
	}
	if r.state == backup && r.due <= w.now {
		w.arm(h, 0)
	}
}

// leave gives the VIP up in order. Who still serves sinks below everybody and waits until it has
// heard who takes over; at once means that it does not wait.
func (w *world) leave(h *host, then Fault, atOnce bool) {
	r, s := &h.router, &h.supervisor
	s.then = then
	s.leave++
	if s.leaving && !atOnce {
		return
	}
	s.leaving = true
	if !r.runs || r.state != master || atOnce {
		w.leaveNow(h, s.leave)
		return
	}
	w.note(h, "leaves")
	w.tracks(h)
	patience := w.patience()
	if h.role == role.Bootstrap && w.promises() {
		patience = max(patience, vrrp.Standing)
	}
	w.after(patience, event{kind: evLeave, host: int8(h.index), gen: s.leave})
}

// leaveNow ends keepalived, which says farewell if it is still the holder.
func (w *world) leaveNow(h *host, gen uint32) {
	r, s := &h.router, &h.supervisor
	if !s.leaving || gen != s.leave || !h.on {
		return
	}
	s.leaving, s.left = false, true
	s.run++
	if r.runs {
		r.frozen = false
		w.say(h, stopped)
		w.end(h)
		w.after(w.some(dropTakes), event{kind: evStrip, host: int8(h.index), gen: r.adding})
	}
	s.forget()
	w.dirty = true
	then := s.then
	s.then = Fault{}
	switch then.Kind {
	case EndKeepalived:
		w.after(then.For+w.some(startup), event{kind: evPart, host: int8(h.index), gen: h.boots, arg: int32(partKeepalived)})
	case Reboot:
		w.endParts(h)
		w.after(w.some(shutdown), event{kind: evOrder, host: int8(h.index)})
		w.bootAfter(h, then.For)
	}
}
