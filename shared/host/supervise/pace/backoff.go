package pace

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

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
	pause := supervised.Pause(b.failures)
	b.failures++
	return pause
}
