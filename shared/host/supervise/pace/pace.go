// Package pace times what the supervisor does again: once a beat, after a failure, or when
// the network has changed.
package pace

import (
	"time"
)

// Beat is the time between two rounds in which nothing else is due.
const Beat = time.Second

// early is how much too early a beat may be: all that is due once a beat is then done in one round,
// whenever each part of it began.
const early = 100 * time.Millisecond

// Due reports whether something that is due at a time is to be done now.
func Due(at, now time.Time) bool { return !now.Add(early).Before(at) }

// betweenChanges is the least time between two rounds that changes of the network cause. On a host
// on which containers come and go the kernel reports hundreds a second, and each would have all
// files read again. Elections depend on other events, which wait for nothing.
const betweenChanges = 100 * time.Millisecond

// Gate limits how often changes of the network wake the loop. The zero value lets the next one in.
type Gate struct{ until time.Time }

// Open is the channel of the next change, or nil, on which nothing ever comes, while the gate is
// closed. Then opens is when it opens.
func (g Gate) Open(network <-chan struct{}, now time.Time) (open <-chan struct{}, opens time.Time) {
	if now.Before(g.until) {
		return nil, g.until
	}
	return network, time.Time{}
}

// Close closes the gate for a while, after a change that came in.
func (g *Gate) Close(now time.Time) { g.until = now.Add(betweenChanges) }
