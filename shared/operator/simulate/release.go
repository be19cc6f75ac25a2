package simulate

import (
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/release"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// bootstrapRelease is the bootstrap machine's decision to release the VIP, and how far it is
// carried out. No host is provisioned here: there is no Ironic.
type bootstrapRelease struct {
	state  release.State
	yields bool // a handover goes on
	gone   bool // keepalived was told to end by it
	gen    uint32
}

// holds says whether the VIP has not been released.
func (r *bootstrapRelease) holds() bool { return r.state.Memory().Holding }

// The parts of a probe of the bootstrap machine's API.
const (
	askAPI int32 = iota
	apiHung
)

// probeAPI is a probe by the bootstrap machine of its API, or its timeout.
func (w *world) probeAPI(h *host, step int32, gen uint32) {
	r := &h.release
	if gen != r.gen || !h.on {
		return
	}
	probe := event{kind: evRelease, host: int8(h.index), arg: askAPI, gen: gen}
	policy, pause := w.Timing.Bootstrap, w.Timing.Bootstrap.Interval
	found := h.api.health()
	switch {
	case step == apiHung:
		found, pause = health.Gone, max(lateTick, policy.Interval-policy.Timeout)
	case h.api.hung:
		probe.arg = apiHung
		w.after(policy.Timeout+r.state.IronicAfter(), probe)
		return
	}
	w.decideRelease(h, found)
	w.dirty = true
	w.after(pause, probe)
}

// decideRelease has the product decide on what a probe found, and its supervisor follow.
func (w *world) decideRelease(h *host, found health.API) {
	r, s := &h.release, &h.supervisor
	held, yielded := r.holds(), r.yields
	var verdict release.Verdict
	r.state, verdict = r.state.Next(release.Observation{At: w.clock(), API: found, Heir: w.heir()})
	r.yields = verdict.Yield
	switch {
	case verdict.Hold && r.gone && s.left:
		r.gone, s.left = false, false
		w.restart(h, w.some(reloading))
	case !verdict.Hold && held:
		r.gone = true
		w.note(h, map[bool]string{true: "hands over", false: "gives up"}[verdict.Yield])
		w.leave(h, Fault{}, !verdict.Yield)
	case !verdict.Hold && yielded && !verdict.Yield:
		w.leave(h, Fault{}, true)
	}
}

// heir is what the bootstrap machine finds out about the masters that it knows.
func (w *world) heir() release.Heir {
	var found []health.API
	for _, h := range w.hosts {
		if h.role != role.Master || w.boot.knows&(1<<h.index) == 0 {
			continue
		}
		api := health.Gone
		if h.on && reaches(w.boot, h) && reaches(h, w.boot) {
			api = h.api.health()
		}
		found = append(found, api)
	}
	if !w.elects(w.boot) {
		return release.NoHeir
	}
	return release.HeirAmong(found)
}
