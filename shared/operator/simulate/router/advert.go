package router

import (
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/trace"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Advertise sends an advert to each peer that the host knows.
func Advertise(w *world.World, h *world.Host, priority int) {
	for _, to := range w.Hosts {
		if to == h || !h.Knows[to.Index] || !w.IsCandidate(to) || !world.Reaches(h, to) {
			continue
		}
		send(w, h, to, priority)
		if w.Draws(h.Links.Duplicate) {
			send(w, h, to, priority)
		}
	}
}

func send(w *world.World, from, to *world.Host, priority int) {
	if w.Draws(from.Links.Loss) || w.Draws(to.Links.Loss) {
		return
	}
	takes := w.Take(world.Wire) + world.Milliseconds(from.Links.Delay)
	if to.Links.Hog > 0 {
		takes += wakeUp(w, to)
	}
	w.After(takes, to.Event(world.EvAdvert, 0).About(from.Index).With(int32(priority)))
}

// Receive is an advert that arrives at a host.
func Receive(w *world.World, h *world.Host, a world.Advert) {
	r := &h.Router
	switch {
	case !h.On || !r.Runs:
	case r.Frozen:
		r.Waiting = append(r.Waiting, a)
	case r.State == world.Backup:
		receiveAsBackup(w, h, a)
	case r.State == world.Master:
		receiveAsMaster(w, h, a)
	}
}

// receiveAsBackup is vrrp_state_backup with the timer that follows. An advert of lower priority is
// discarded and leaves the rest of the timer.
func receiveAsBackup(w *world.World, h *world.Host, a world.Advert) {
	r := &h.Router
	switch {
	case a.Priority == 0:
		r.Down = vrrp.Skew(w.Version, vrrp.Priority(r.Priority), w.Timing.Advert)
	case a.Priority >= r.Priority:
		r.Down = MasterDown(w, r)
	default:
		r.Down = max(0, r.Due-w.Now)
		return // the timer is set to what it is
	}
	r.ReceivedAt = w.Now
	Arm(w, h, r.Down)
}

// receiveAsMaster is vrrp_state_master_rx with vrrp_higher_prio_send_advert.
func receiveAsMaster(w *world.World, h *world.Host, a world.Advert) {
	r := &h.Router
	lower := h.Advertises(r.Priority).Outranks(a.From.Advertises(a.Priority))
	Advertise(w, h, r.Priority) // in each of the cases
	switch {
	case a.Priority == 0:
		Arm(w, h, w.Timing.Advert)
	case lower:
		if r.HasVIP {
			sendARP(w, h)
		}
		Arm(w, h, w.Timing.Advert)
	default:
		r.Down = MasterDown(w, r)
		r.ReceivedAt = w.Now
		stepDown(w, h, world.Backup)
		Arm(w, h, r.Down)
	}
}

// AddVIP puts the VIP on the interface and announces it.
func AddVIP(w *world.World, h *world.Host, gen uint32) {
	r := &h.Router
	if gen != r.Adding || !h.On {
		return
	}
	SetVIP(w, h, true)
	sendARP(w, h)
	w.After(world.RepeatARP, h.Event(world.EvARP, gen))
}

// RepeatARP is the second burst of announcements.
func RepeatARP(w *world.World, h *world.Host, gen uint32) {
	if r := &h.Router; gen == r.Adding && r.Runs && !r.Frozen && r.State == world.Master && h.On {
		sendARP(w, h)
	}
}

// sendARP announces the VIP by gratuitous ARP or neighbour advertisements. One of the burst arrives
// if any can.
func sendARP(w *world.World, h *world.Host) {
	if !h.Links.Out() || h.Links.Loss > 0 && w.Random.IntN(100) < h.Links.Loss/3 {
		return
	}
	w.Neighbour = h
	w.Dirty = true
}

// DropVIP removes the VIP from the interface.
func DropVIP(w *world.World, h *world.Host, gen uint32) {
	if gen == h.Router.Adding {
		SetVIP(w, h, false)
	}
}

// SetVIP sets whether the kernel has the VIP.
func SetVIP(w *world.World, h *world.Host, has bool) {
	if h.Router.HasVIP == has {
		return
	}
	h.Router.HasVIP = has
	w.Dirty = true
	if !has {
		w.ResetRequests(h)
	}
	trace.Mark(&h.Film.Holds, w.Now, has && h.On)
	w.RecordHolders()
}
