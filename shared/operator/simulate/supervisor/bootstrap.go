package supervisor

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
	"github.com/onprem-infra/onprem-infra/shared/release"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// ProbeAPI begins a probe of the bootstrap machine's API, or goes on with one that is late.
func ProbeAPI(w *world.World, h *world.Host, late bool, gen uint32) {
	r := &h.Release
	if gen != r.Gen || !h.On {
		return
	}
	if !late {
		r.Asked = w.Now
	}
	probe, elapsed := h.Event(world.EvBootstrapProbe, gen), w.Now-r.Asked
	found := release.Observation{API: h.API.Health(), Heir: heir(w)}
	if h.API.Hung {
		var wait time.Duration
		if found, wait = r.State.JudgeLate(elapsed, found.Heir, false); wait > 0 {
			w.After(wait, probe.With(1))
			return
		}
	}
	decideRelease(w, h, found)
	w.Dirty = true
	w.After(max(world.LateTick, w.Timing.Bootstrap.Interval-elapsed), probe.With(0))
}

// decideRelease has the product decide on what a probe found, and its supervisor follow.
func decideRelease(w *world.World, h *world.Host, found release.Observation) {
	r, s := &h.Release, &h.Supervisor
	held, yielded := r.Holds(), r.HandingOver
	var verdict release.Verdict
	found.At = w.Clock()
	r.State, verdict = r.State.Next(found)
	r.HandingOver = verdict.Yield
	switch {
	case verdict.Hold && r.Stopped && s.Stopped:
		r.Stopped, s.Stopped = false, false
		Restart(w, h, w.Take(world.Reloading))
	case verdict.Hold && !held && !r.Stopped: // after a reboot
		Restart(w, h, w.Take(world.Reloading))
	case !verdict.Hold && held:
		r.Stopped = true
		w.Note(h, map[bool]string{true: "hands over", false: "releases"}[verdict.Yield])
		Release(w, h, schedule.Fault{}, !verdict.Yield)
	case !verdict.Hold && yielded && !verdict.Yield:
		Release(w, h, schedule.Fault{}, true)
	}
}

// heir is the state of the masters that the bootstrap machine knows.
func heir(w *world.World) release.Heir {
	var found []health.API
	for _, h := range w.Hosts {
		if h.Role != role.Master || !w.Boot.Knows[h.Index] {
			continue
		}
		api := health.Gone
		if h.On && world.Reaches(w.Boot, h) && world.Reaches(h, w.Boot) {
			api = h.API.Health()
		}
		found = append(found, api)
	}
	if !w.Elects(w.Boot) {
		return release.NoHeir
	}
	return release.HeirAmong(found)
}
