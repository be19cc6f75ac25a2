package host

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/session"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/world"
	"github.com/onprem-infra/onprem-infra/shared/speak"
)

// Boot switches on a host whose programs package pair simulates. Its speaker starts after pause.
func Boot(w *world.World, h *world.Host, pause time.Duration) {
	if h.On {
		return
	}
	h.On, h.Rebooting, w.Moved, w.Dirty = true, false, true, true
	h.Boots++
	session.Changed(w, h.Index)
	w.Start(h, world.PartSpeaker, pause)
}

// Attend sets whether the monitor of such a host runs.
func Attend(w *world.World, h *world.Host, runs bool) {
	switch {
	case runs && !h.Watches:
		h.Watches = true
		h.Starts++
		Wake(w, h)
	case !runs:
		Unwatch(w, h)
	}
}

// Order is what the monitor of such a host wants of the speaker for a VIP; nil for nothing.
func Order(w *world.World, h *world.Host, v int, route *speak.Route) {
	if h.Wish[v] = route != nil; h.Wish[v] {
		h.Route[v] = *route
	}
	Wake(w, h)
}
