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

// Step is how far a probe of the bootstrap machine's API is.
type Step int32

const (
	begins Step = iota
	hangs       // for health.Policy.Hang: a ready node need not wait any longer
	ended       // by its timeout
)

// Release is a probe of the bootstrap machine: the product decides whether it announces, hands over
// or gives up.
func Release(w *world.World, h *world.Host, step Step) {
	p, later := w.Checks.Bootstrap, func(after time.Duration, step Step) {
		w.After(after, probe(h, int(step), world.EvLate))
	}
	heir, api, pause, hang := heir(w, h), found(w, h), p.Interval, false
	switch {
	case step == ended:
		api, pause = health.Gone, p.Interval-p.Timeout
	case !h.API.On || !h.API.Hung:
	case step == begins:
		later(p.Hang, hangs)
		return
	case heir != release.ReadyHeir:
		later(p.Timeout-p.Hang, ended)
		return
	default:
		api, pause, hang = health.Gone, p.Interval-p.Hang, true
	}
	before, yielded := h.Wish[0], h.Yields
	var v release.Verdict
	h.Release, v = h.Release.Next(release.Observation{At: w.Clock(), API: api, Heir: heir,
		Hangs: hang})
	h.Wish[0] = (v.Hold || v.Yield) && h.Release.Memory().SeenReady
	h.Yields = v.Yield
	h.Route[0] = route(w, 0, w.Policy(0).OfBootstrap(false))
	if before != h.Wish[0] || yielded != h.Yields {
		w.Note(w.Name(h.Index), v.Why)
		Wake(w, h)
	}
	w.After(max(world.Next, pause), probe(h, int(begins), world.EvRelease))
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
