package simulate

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// state is that of a VRRP instance.
type state int

const (
	stopped state = iota // there is none
	backup
	master
	faulted
)

// router is keepalived with its one instance, as vrrp.c of version 2.2.7 has it.
type router struct {
	runs     bool // the process lives
	frozen   bool // and a signal has stopped it
	state    state
	priority int           // effective
	down     time.Duration // ms_down_timer
	due      time.Duration // sands
	timer    uint32        // the generation of what is armed
	process  uint32        // which keepalived this is: what concerned a former one is nothing
	vip      bool          // the kernel has the address, whatever the state is
	adding   uint32        // the generation of the address's way onto the interface, or off it

	waiting []advert      // what has arrived while it was stopped
	elected time.Duration // when it last became MASTER
	heard   time.Duration // when an advert last set its timer
	changed time.Duration // when its priority did
	thawed  time.Duration // when it was last continued
}

type advert struct {
	from     *host
	priority int
}

// masterDown is VRRP_MS_DOWN_TIMER.
func (w *world) masterDown(r *router) time.Duration {
	return vrrp.MasterDown(w.Version, vrrp.Priority(r.priority), w.Timing.Advert)
}

// arm sets the instance's timer.
func (w *world) arm(h *host, d time.Duration) {
	r := &h.router
	r.timer++
	r.due = w.now + d
	w.at(r.due+w.late(h), event{kind: evTimer, host: int8(h.index), gen: r.timer})
}

// late is how late a process comes to its turn.
func (w *world) late(h *host) time.Duration {
	if h.links.hog == 0 {
		return w.some(wakes)
	}
	return w.between(0, ms(h.links.hog))
}

// expire is what happens when the timer has run out.
func (w *world) expire(h *host, gen uint32) {
	r := &h.router
	if !r.runs || r.frozen || gen != r.timer {
		return
	}
	switch r.state {
	case backup:
		w.goMaster(h)
	case master:
		w.advertise(h, r.priority)
		w.arm(h, w.Timing.Advert)
	}
}

// goMaster takes the VIP. The advert goes out first, so that a former holder drops the address
// before the network hears where it is now.
func (w *world) goMaster(h *host) {
	r := &h.router
	w.judgeTakeover(h)
	r.state, r.elected = master, w.now
	w.dirty = true
	w.note(h, "MASTER")
	w.advertise(h, r.priority)
	w.arm(h, w.Timing.Advert)
	r.adding++
	w.after(w.some(addTakes), event{kind: evAddress, host: int8(h.index), gen: r.adding})
	w.tellSupervisor(h)
}

// address is when the VIP is on the interface.
func (w *world) address(h *host, gen uint32) {
	r := &h.router
	if gen != r.adding || !h.on {
		return
	}
	w.setVIP(h, true)
	w.burst(h)
	w.after(secondBurst, event{kind: evARP, host: int8(h.index), gen: gen})
}

// announce is the second burst.
func (w *world) announce(h *host, gen uint32) {
	if r := &h.router; gen == r.adding && r.runs && !r.frozen && r.state == master && h.on {
		w.burst(h)
	}
}

// burst tells the network where the VIP is by gratuitous ARP or neighbour advertisements. They are
// several: one of them arrives when any can.
func (w *world) burst(h *host) {
	if !h.links.out() || h.links.loss > 0 && w.rng.IntN(100) < h.links.loss/3 {
		return
	}
	w.neighbour = h
	w.dirty = true
}

// leaveMaster is a holder that becomes a backup: it takes the address off.
func (w *world) leaveMaster(h *host, to state) {
	r := &h.router
	r.state = to
	w.note(h, map[state]string{backup: "BACKUP", faulted: "FAULT", stopped: "ended"}[to])
	r.adding++
	w.after(w.some(dropTakes), event{kind: evDrop, host: int8(h.index), gen: r.adding})
	w.dirty = true
	w.tellSupervisor(h)
}

func (w *world) drop(h *host, gen uint32) {
	if gen == h.router.adding {
		w.setVIP(h, false)
	}
}

func (w *world) setVIP(h *host, has bool) {
	if h.router.vip == has {
		return
	}
	h.router.vip = has
	w.dirty = true
	if !has {
		w.resetRequests(h)
	}
	mark(&h.film.holds, w.now, has && h.on)
	w.held()
}

// arrive is an advert that reaches a host.
func (w *world) arrive(h *host, a advert) {
	r := &h.router
	switch {
	case !h.on || !r.runs:
	case r.frozen:
		r.waiting = append(r.waiting, a)
	case r.state == backup:
		w.hearAsBackup(h, a)
	case r.state == master:
		w.hearAsMaster(h, a)
	}
}

// hearAsBackup is vrrp_state_backup, and the timer that is set after it. A lower priority is
// discarded, and leaves of the timer what was left.
func (w *world) hearAsBackup(h *host, a advert) {
	r := &h.router
	switch {
	case a.priority == 0:
		r.down = vrrp.Skew(w.Version, vrrp.Priority(r.priority), w.Timing.Advert)
	case a.priority >= r.priority:
		r.down = w.masterDown(r)
	default:
		r.down = max(0, r.due-w.now)
		return // the timer is set to what it is
	}
	r.heard = w.now
	w.arm(h, r.down)
}

// hearAsMaster is vrrp_state_master_rx with vrrp_higher_prio_send_advert.
func (w *world) hearAsMaster(h *host, a advert) {
	r := &h.router
	lower := h.advertises(r.priority).Outranks(a.from.advertises(a.priority))
	w.advertise(h, r.priority) // in each of the cases
	switch {
	case a.priority == 0:
		w.arm(h, w.Timing.Advert)
	case lower:
		if r.vip {
			w.burst(h)
		}
		w.arm(h, w.Timing.Advert)
	default:
		r.down = w.masterDown(r)
		r.heard = w.now
		w.leaveMaster(h, backup)
		w.arm(h, r.down)
	}
}

// setPriority is vrrp_set_effective_priority: a backup's timer moves by the difference of the two
// waits.
func (w *world) setPriority(h *host, priority int) {
	r := &h.router
	if priority == r.priority {
		return
	}
	r.priority, r.changed = priority, w.now
	h.film.priority = append(h.film.priority, step{at: w.now, value: priority})
	former := r.down
	r.down = w.masterDown(r)
	if r.state == backup && r.timer > 0 {
		w.arm(h, max(0, r.due-w.now+r.down-former))
	}
}

// startRouter is a keepalived that has read its configuration. It listens first.
func (w *world) startRouter(h *host, gen uint32) {
	r, s := &h.router, &h.supervisor
	if gen != s.run || !h.on || r.runs || s.left || !w.mayStand(h) {
		return
	}
	r.runs, r.frozen, r.waiting = true, false, nil
	r.process++
	r.heard = -1
	s.leaving = false
	r.state, r.priority = stopped, 0
	w.setPriority(h, w.priority(h))
	w.dirty = true
	if w.faulty(h) {
		r.state = faulted
		w.note(h, "FAULT")
		return
	}
	w.stand(h)
}

// stand is an instance that begins to take part.
func (w *world) stand(h *host) {
	r := &h.router
	r.state = backup
	r.down = w.masterDown(r)
	w.note(h, "BACKUP")
	w.arm(h, r.down)
	w.dirty = true
	w.tellSupervisor(h)
}

// end is a keepalived that lives no more. What it leaves behind is its supervisor's to remove.
func (w *world) end(h *host) {
	r := &h.router
	r.runs, r.frozen, r.state, r.waiting = false, false, stopped, nil
	r.timer++
	r.process++
	r.adding++
	if n := len(h.film.priority); n > 0 && h.film.priority[n-1].value >= 0 {
		h.film.priority = append(h.film.priority, step{at: w.now, value: -1})
	}
	r.priority = 0
	w.dirty = true
}

// say sends the farewell: priority 0, and the address goes.
func (w *world) say(h *host, to state) {
	if h.router.state == master {
		w.rules.farewell = w.now
		w.advertise(h, 0)
		w.leaveMaster(h, to)
	}
}
