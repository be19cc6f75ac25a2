package daemon

import (
	"errors"
	"time"
)

const (
	firstDelay = time.Second
	// maxDelay limits attempts that load other machines or this one: a pull from a registry that is
	// down, and the start of a container that exits at once.
	maxDelay = 30 * time.Second
	// maxLocalDelay limits attempts after any other local failure. It is short because the person
	// who fixes the cause is watching.
	maxLocalDelay = 5 * time.Second
	// stableAfter is how long a container must have run before its exit counts as a new event and
	// not as a failed start.
	stableAfter = 10 * time.Second
)

// backoff is a delay between attempts that doubles. The zero value does not delay.
type backoff struct {
	delay time.Duration
	until time.Time
}

func (b *backoff) wait() bool { return time.Now().Before(b.until) }

// extend doubles the delay up to a limit, and counts it from the given time.
func (b *backoff) extend(from time.Time, limit time.Duration) {
	b.delay = min(max(2*b.delay, firstDelay), limit)
	b.until = from.Add(b.delay)
}

// costly is the failure of an attempt that must not be repeated often.
type costly struct{ error }

func (c costly) Unwrap() error { return c.error }

// limit is the longest delay after a failure.
func limit(err error) time.Duration {
	if errors.As(err, new(costly)) {
		return maxDelay
	}
	return maxLocalDelay
}
