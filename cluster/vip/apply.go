package vip

import (
	"context"
	"errors"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
)

// Apply brings the machine to what is desired. Memory is kept before keepalived is configured: a
// restart that forgets an instance or a peer would remove it again.
func (r *Room) Apply(_ context.Context, d Desired) error {
	r.options.Host.Listen(d.Listen)
	if r.notify {
		r.options.Changed(r.plan)
	}
	r.notify = false
	failed := r.kept.Keep(d.Memory, r.options.Host.Keep)
	if !d.Unchanged {
		failed = errors.Join(failed, r.propose(d.Config))
	}
	failed = errors.Join(failed, r.moved.Keep(d.Migration.Memory, r.options.Host.KeepMigration))
	left := d.Migration.Recheck.Sub(r.options.Now())
	if !d.Migration.Recheck.IsZero() && left < 2*Interval {
		r.options.After(max(left, 0) + time.Millisecond) // a timer may be early by the wall clock
	}
	return failed
}

// propose hands over the candidate configuration. A refused one is an error.
func (r *Room) propose(c keepalived.Config) error {
	if err := r.proposal.Make(c, r.options.Host); err != nil {
		return err
	}
	_, err := r.proposal.Check(r.options.Host)
	return err
}
