package simulate

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
)

// phase is where the bootstrap machine's stop logic is, as bootstrap/vip has it for a machine whose API has been ready.
type phase int

const (
	released phase = iota
	holding
)

// release is that logic. Nobody provisions through the VIP here: there is no Ironic.
type release struct {
	phase    phase
	yields   bool // released while the API still served
	gone     bool // keepalived was told to end by it
	failures int
	gen      uint32
}

// next is the state after one more look, and whether the machine is to hold the VIP.
func (r release) next(api health.API, heir bool, fall int) (release, bool) {
	if api == health.Ready {
		r.phase, r.failures, r.yields = holding, 0, false
		return r, true
	}
	if r.yields = r.yields && api == health.ShuttingDown; r.yields || r.phase == released {
		return r, false
	}
	switch {
	case api == health.ShuttingDown && heir:
		r.phase, r.yields = released, true
		return r, false
	case api == health.ShuttingDown:
		return r, true
	}
	if r.failures++; r.failures >= fall {
		r.phase = released
		return r, false
	}
	return r, true
}

// The parts of a look at the bootstrap machine's API.
const (
	askAPI int32 = iota
	apiHung
)

// lookAtAPI is a look of the bootstrap machine, or the end of one that nobody answered.
func (w *world) lookAtAPI(h *host, step int32, gen uint32) {
	r := &h.release
	if gen != r.gen || !h.on {
		return
	}
	look := event{kind: evRelease, host: int8(h.index), arg: askAPI, gen: gen}
	seen, policy := health.Gone, w.Timing.Bootstrap
	switch {
	case step == apiHung:
	case h.api.hung:
		look.arg = apiHung
		takes := policy.Timeout
		if r.failures == 0 {
			takes += policy.Late() // as Ironic is asked only then
		}
		w.after(takes, look)
		return
	case h.api.draining:
		seen = health.ShuttingDown
	case h.api.on:
		seen = health.Ready
	}
	before, gone := *r, r.gone
	next, hold := r.next(seen, w.heir(), policy.Fall)
	*r = next
	switch s := &h.supervisor; {
	case hold && gone && s.left:
		r.gone, s.left = false, false
		w.restart(h, w.some(reloading))
	case !hold && before.phase == holding:
		r.gone = true
		w.note(h, map[bool]string{true: "hands over", false: "gives up"}[next.yields])
		w.leave(h, Fault{}, !next.yields)
	case !hold && before.yields && !next.yields:
		w.leave(h, Fault{}, true)
	}
	w.dirty = true
	pause := policy.Interval
	if step == apiHung {
		pause = max(time.Millisecond, policy.Interval-policy.Timeout)
	}
	w.after(pause, look)
}

// heir says whether a master could serve: its API is ready, and there are enough to elect a holder.
func (w *world) heir() bool {
	known, ready := 0, false
	for _, h := range w.hosts {
		if h.sort == isMaster && w.boot.knows&(1<<h.index) != 0 {
			known++
			ready = ready || h.on && h.api.ready() && reaches(w.boot, h) && reaches(h, w.boot)
		}
	}
	return ready && (known > 1 || w.Masters <= 2 && known > 0)
}
