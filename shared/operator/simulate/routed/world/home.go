package world

import (
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/schedule"
)

// IsHome reports whether a router has an address in the VIP's own network.
func (w *World) IsHome(r *Router) bool {
	b := w.Boxes[r.Box]
	return b.Level == schedule.LeafLevel && slices.Contains(w.Home, b.Rack)
}

// Homeward is the next router from one on the way to the VIP's own network; nil if there is none.
// Routers know that network whatever hosts announce, and follow what changes at once.
func (w *World) Homeward(from *Router) *Router {
	first := map[*Router]*Router{from: nil} // the first router on the way to each one
	for queue := []*Router{from}; len(queue) > 0; queue = queue[1:] {
		r := queue[0]
		for _, i := range r.Ports {
			l := w.Links[i]
			next := w.Router(l.Boxes[0])
			if next == r {
				next = w.Router(l.Boxes[1])
			}
			if _, known := first[next]; next == nil || known || !w.Carries(l) {
				continue
			}
			if first[next] = first[r]; r == from {
				first[next] = next
			}
			if w.IsHome(next) {
				return first[next]
			}
			queue = append(queue, next)
		}
	}
	return nil
}

// Delivers is the host to which a router of the VIP's own network delivers a connection, by its
// neighbour cache, and whether it is served; -1 for no host.
func (w *World) Delivers(r *Router, v int) (host int, served bool) {
	h := w.Neighbour
	if h == nil {
		return -1, false
	}
	for _, i := range h.Ports {
		if l := w.Links[i]; l.Boxes[1] == r.Box && !w.Carries(l) {
			return -1, false
		}
	}
	return h.Index, h.OnLink && h.Cuts == 0 && w.Serves(h, v)
}
