package kube

import (
	"math/rand/v2"
	"time"
)

// A crowd is so many followers that what all of them do at once is felt by the API: the nodes that
// are not of the control plane. After an outage each of them waits by chance, for up to firstSpread
// at first and for up to lastSpread in the end, so that they do not come back together. Nothing
// waits for them: what they know stays until then.
const (
	firstSpread = 4 * time.Second
	lastSpread  = 32 * time.Second
)

// spread is the longest that one of a crowd waits after so many failures in a row.
func spread(failed int) time.Duration {
	return min(firstSpread<<min(failed, 8), lastSpread)
}

// Crowd has all that is followed through this API from now on follow as one of a crowd.
func (a *API) Crowd() *API {
	a.crowd = true
	return a
}

// pause is how long to wait after an attempt that ended so: the pace at least. An API that refuses
// who asks is asked seldom in the end.
func (f *follower) pause(err error) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	wait := pace
	switch {
	case !refusal(err):
		f.refused = 0
	default:
		if f.refused++; f.refused >= refusals {
			wait = seldom
		}
	}
	if !f.crowd {
		return wait
	}
	if err != nil {
		f.failed++
	}
	return wait + rand.N(spread(max(f.failed-1, 0)))
}

// fails counts an attempt that ended without an error, and without an answer.
func (f *follower) fails() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failed++
}

// well is called when the API has sent an event that could be read, or when its answer goes on for
// a while. The mere start of an answer is no sign of health.
func (f *follower) well() {
	f.mu.Lock()
	f.failed = 0
	f.mu.Unlock()
	f.troubles.well(f)
}
