package supervisor

import (
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
	"github.com/onprem-infra/onprem-infra/shared/release"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// The parts of a probe of the bootstrap machine's API.
const (
	ProbeBegins int32 = iota
	probeLate
	probeHangs
)

// ProbeAPI is a probe of the bootstrap machine's API, or its timeout.
func ProbeAPI(w *world.World, h *world.Host, step int32, gen uint32) {
	r := &h.Release
	if gen != r.Gen || !h.On {
		return
	}
	probe := h.Event(world.EvBootstrapProbe, gen).With(ProbeBegins)
	policy, pause := w.Timing.Bootstrap, w.Timing.Bootstrap.Interval
	found, hangs := h.API.Health(), false
	switch {
	case step == probeHangs:
		found, pause = health.Gone, policy.Interval-policy.Timeout
	case !h.API.Hung:
	case step == ProbeBegins:
		probe.Arg = probeLate
		w.After(policy.Hang, probe)
		return
	case heir(w) != release.ReadyHeir:
		probe.Arg = probeHangs
		w.After(policy.Timeout+r.State.IronicAfter()-policy.Hang, probe)
		return
	default:
		found, pause, hangs = health.Gone, policy.Interval-policy.Hang, true
	}
	pause = max(world.LateTick, pause)
	decideRelease(w, h, found, hangs)
	w.Dirty = true
	w.After(pause, probe)
}

// decideRelease has the product decide on what a probe found, and its supervisor follow.
func decideRelease(w *world.World, h *world.Host, found health.API, hangs bool) {
	r, s := &h.Release, &h.Supervisor
	held, yielded := r.Holds(), r.HandingOver
	var verdict release.Verdict
	r.State, verdict = r.State.Next(release.Observation{At: w.Clock(), API: found, Heir: heir(w),
		Hangs: hangs})
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
