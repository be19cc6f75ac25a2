package supervised

import "time"

var pauses = []time.Duration{0, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second,
	10 * time.Second}

// Pause is the time that the supervisor waits before it tries something again, such as to start
// keepalived, after so many failures in a row: the first time none.
func Pause(failures int) time.Duration { return pauses[min(failures, len(pauses)-1)] }

// Backoff paces attempts: the first one at once, then ever slower.
type Backoff struct{ failures int }

// AfterFailure is a Backoff whose first attempt has failed already.
func AfterFailure() Backoff { return Backoff{failures: 1} }

// Steady is how long something must have worked for its next failure to count as the first.
const Steady = time.Minute

// Next is the pause before another attempt, after one that worked for a time.
func (b *Backoff) Next(worked time.Duration) time.Duration {
	if worked >= Steady {
		b.failures = 0
	}
	pause := Pause(b.failures)
	b.failures++
	return pause
}
