package host

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/world"
	"github.com/onprem-infra/onprem-infra/shared/release"
)

// found is what a probe of an API server finds.
func found(w *world.World, h *world.Host) health.API {
	switch {
	case !h.Ready:
		return health.Gone
	case h.Draining:
		return health.ShuttingDown
	}
	return health.Ready
}

// Release begins a probe of the bootstrap machine, or goes on with one that is late: the product
// decides whether it announces, hands over or releases the VIP.
func Release(w *world.World, h *world.Host, late bool) {
	if !late {
		h.Asked = w.Now
	}
	elapsed, o := w.Now-h.Asked, release.Observation{API: found(w, h), Heir: heir(w, h)}
	if h.API.On && h.API.Hung {
		var wait time.Duration
		if o, wait = h.Release.JudgeLate(elapsed, o.Heir, false); wait > 0 {
			w.After(wait, probe(h, 0, world.EvLate))
			return
		}
	}
	o.At = w.Clock()
	before, yielded := h.Wish[0], h.Yields
	var v release.Verdict
	h.Release, v = h.Release.Next(o)
	h.Wish[0] = (v.Hold || v.Yield) && h.Release.Memory().SeenReady
	h.Yields = v.Yield
	h.Route[0] = route(w, 0, w.Policy(0).OfBootstrap(false))
	if before != h.Wish[0] || yielded != h.Yields {
		w.Note(w.Name(h.Index), v.Why)
		Wake(w, h)
	}
	w.After(max(world.Next, w.Checks.Bootstrap.Interval-elapsed), probe(h, 0, world.EvRelease))
}

// heir is the state of the masters that a host reaches.
func heir(w *world.World, h *world.Host) release.Heir {
	var all []health.API
	for _, o := range w.Hosts[1 : w.Masters+1] {
		if o.Joined && w.Reaches(h.Index, o.Index) {
			all = append(all, found(w, o))
		}
	}
	return release.HeirAmong(all)
}
