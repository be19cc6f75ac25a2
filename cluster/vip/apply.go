package vip

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
)

// Apply brings the machine to what is desired. Memory is kept before keepalived is configured: a
// restart that forgets an instance or a peer would remove it again.
func (r *Room) Apply(_ context.Context, d Desired) error {
	r.options.Host.Listen(d.Listen)
	if r.notify && r.options.Changed != nil {
		r.options.Changed(r.plan)
	}
	r.notify = false
	failed := r.keep(d.Memory)
	if !d.Unchanged {
		failed = errors.Join(failed, r.propose(d.Config))
	}
	failed = errors.Join(failed, r.keepMigration(d))
	left := d.Migration.Recheck.Sub(r.options.Now())
	if !d.Migration.Recheck.IsZero() && left < 2*Interval {
		r.options.After(max(left, 0) + time.Millisecond) // a timer may be early by the wall clock
	}
	return failed
}

func (r *Room) keep(m Memory) error {
	if m.equal(r.kept.memory) {
		return nil
	}
	if err := r.options.Host.Keep(m); err != nil {
		return fmt.Errorf("keep what is known of the cluster: %w", err)
	}
	r.kept.memory = m
	return nil
}

func (r *Room) keepMigration(d Desired) error {
	if d.Migration.Memory.Equal(r.kept.migration) {
		return nil
	}
	if err := r.options.Host.KeepMigration(d.Migration.Memory); err != nil {
		return fmt.Errorf("keep how this node speaks VRRP: %w", err)
	}
	r.kept.migration = d.Migration.Memory
	return nil
}

// propose hands over the candidate configuration. A refused one is an error.
func (r *Room) propose(c keepalived.Config) error {
	if err := r.proposal.Make(c, r.options.Host.Propose); err != nil {
		return err
	}
	status, err := r.options.Host.Status()
	if err != nil {
		return fmt.Errorf("read the supervisor's status: %w", err)
	}
	return r.proposal.Refused(status)
}
