package daemon

import (
	"errors"
	"time"
)

const (
	firstDelay = time.Second
	// maxDelay is for what others must put right: a registry that is away for hours is asked twice a minute.
	maxDelay = 30 * time.Second
	// maxLocalDelay is for what is wrong on this machine. Whoever puts it right looks at the machine, and asking costs nobody else anything.
	maxLocalDelay = 5 * time.Second
	// settled is how long a container must have run for its end to be news, and not the trouble that it was started with.
	settled = 10 * time.Second
)

// backoff is a delay between attempts that doubles. The zero value waits for nothing.
type backoff struct {
	delay time.Duration
	until time.Time
}

func (b *backoff) wait() bool { return time.Now().Before(b.until) }

// longer has the next attempt wait longer than the last one did, counted from a time.
func (b *backoff) longer(from time.Time, limit time.Duration) {
	b.delay = min(max(2*b.delay, firstDelay), limit)
	b.until = from.Add(b.delay)
}

// remote is a failure that came from another machine.
type remote struct{ error }

func (r remote) Unwrap() error { return r.error }

// limit is the longest that a failure is waited out.
func limit(err error) time.Duration {
	if errors.As(err, new(remote)) {
		return maxDelay
	}
	return maxLocalDelay
}
