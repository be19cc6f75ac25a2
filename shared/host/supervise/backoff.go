package supervise

import "time"

// backoff paces what is tried again: at once, then ever slower.
type backoff struct{ failures int }

var pauses = []time.Duration{0, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 10 * time.Second}

// steady is how long a daemon must have run for its end to count as the first.
const steady = time.Minute

// next is the pause before another attempt, after one that lasted ran.
func (b *backoff) next(ran time.Duration) time.Duration {
	if ran >= steady {
		b.failures = 0
	}
	pause := pauses[min(b.failures, len(pauses)-1)]
	b.failures++
	return pause
}
