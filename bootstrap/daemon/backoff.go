package daemon

import (
	"errors"
	"time"
)

const (
	firstDelay = time.Second
	// maxDelay is for what costs others something, or this machine much: a registry that is away
	// for hours is asked twice a minute, and a container that does not live is made twice a minute.
	maxDelay = 30 * time.Second
	// maxLocalDelay is for everything else that is wrong on this machine. Whoever puts it right
	// looks at the machine.
	maxLocalDelay = 5 * time.Second
	// settled is how long a container must have run for its end to be news, and not the trouble
	// that it was started with.
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

// costly is a failure of an attempt that is not to be made often.
type costly struct{ error }

func (c costly) Unwrap() error { return c.error }

// limit is the longest that a failure is waited out.
func limit(err error) time.Duration {
	if errors.As(err, new(costly)) {
		return maxDelay
	}
	return maxLocalDelay
}
