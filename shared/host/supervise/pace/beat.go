// Package pace times what the supervisor does again: once a beat, after a failure, or when
// the network has changed.
package pace

import "time"

// Beat is the time between two rounds in which nothing else is due.
const Beat = time.Second

// early is how much too early a beat may be: all that is due once a beat is then done in one round,
// whenever each part of it began.
const early = 100 * time.Millisecond

// Due reports whether something that is due at a time is to be done now.
func Due(at, now time.Time) bool { return !now.Add(early).Before(at) }

// Wake fills a one-slot channel: a wake-up carries no data, so a second one adds nothing.
func Wake(slot chan<- struct{}) {
	select {
	case slot <- struct{}{}:
	default:
	}
}
