package watch

import (
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// pace is the time between two attempts. It is short and constant on the control plane and the
// bootstrap machine: they must see a control plane node that registers just after the API came up
// before that node decides without them.
const pace = time.Second

// An API that refuses a host may have just started and not know its rights yet. After so many
// refusals at the pace the interval is seldom: a person has to grant the right first.
const (
	refusals = 5
	seldom   = 30 * time.Second
)

// In a crowd, as the workers of a cluster are, the API would be overloaded if all hosts sent a
// request at once. After an outage each of them waits a random time, up to firstSpread at first and
// up to lastSpread in the end. Nothing waits for them: what they know stays until then.
const (
	firstSpread = 4 * time.Second
	lastSpread  = 32 * time.Second
)

// steady is how long a stream without events must last to be a sign of health.
const steady = 2 * time.Second

// pause is how long to wait after an attempt that ended with err: the pace at least.
func (w *watcher) pause(err error) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	wait := pace
	switch {
	case !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err):
		w.refused = 0
	default:
		if w.refused++; w.refused >= refusals {
			wait = seldom
		}
	}
	if !w.Crowd {
		return wait
	}
	if err != nil {
		w.failed++
	}
	spread := min(firstSpread<<min(max(w.failed-1, 0), 8), lastSpread)
	return wait + rand.N(spread)
}

// endedAtOnce counts an attempt that ended without an error, and without an answer.
func (w *watcher) endedAtOnce() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed++
}

// works records that the API has sent a valid event, or that a stream lasts for a while. The mere
// start of a stream is no sign of health.
func (w *watcher) works() {
	w.mu.Lock()
	w.failed = 0
	w.mu.Unlock()
	w.fault.Works()
}
