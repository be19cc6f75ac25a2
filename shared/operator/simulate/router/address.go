package router

import (
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/trace"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
)

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
