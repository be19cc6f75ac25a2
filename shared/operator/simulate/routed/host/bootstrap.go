package host

import (
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

// Release is a probe of the bootstrap machine: the product decides whether it announces, hands over
// or gives up.
func Release(w *world.World, h *world.Host, timeout bool) {
	p := w.Checks.Bootstrap
	if h.API.On && h.API.Hung && !timeout {
		w.After(p.Timeout, probe(h, 0, world.EvLate))
		return
	}
	api := found(w, h)
	if timeout {
		api = health.Gone
	}
	var heirs []health.API
	for _, o := range w.Hosts[1 : w.Masters+1] {
		if o.Joined && w.Reaches(h.Index, o.Index) {
			heirs = append(heirs, found(w, o))
		}
	}
	before, yielded := h.Wish[0], h.Yields
	var v release.Verdict
	h.Release, v = h.Release.Next(release.Observation{At: w.Clock(), API: api,
		Heir: release.HeirAmong(heirs)})
	h.Wish[0] = (v.Hold || v.Yield) && h.Release.Memory().SeenReady
	h.Yields = v.Yield
	h.Route[0] = route(w, 0, w.Policy(0).OfBootstrap(false))
	if before != h.Wish[0] || yielded != h.Yields {
		w.Note(w.Name(h.Index), v.Why)
		Wake(w, h)
	}
	pause := p.Interval
	if timeout {
		pause = max(world.Next, p.Interval-p.Timeout)
	}
	w.After(pause, probe(h, 0, world.EvRelease))
}
