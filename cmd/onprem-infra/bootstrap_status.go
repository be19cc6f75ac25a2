//go:build remote

package main

import (
	"context"
	"errors"

	"github.com/onprem-infra/onprem-infra/bootstrap/daemon"
	"github.com/onprem-infra/onprem-infra/shared/host/systemd"
	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// unitStatus is the line that `systemctl status` shows: the room's own status, or the error of its
// failing step. A room with a failing step reports no status, and its former one may be stale.
type unitStatus struct {
	send  func(text string) error
	room  string // the status that the room reported last
	fault string // of the failing step; empty for none
}

// Ready reports to systemd that the room works.
func (*unitStatus) Ready() error { return systemd.Ready() }

// Status reports the room's own status.
func (u *unitStatus) Status(text string) error {
	u.room = text
	if u.fault != "" {
		return nil // ended sends it after the failure
	}
	return u.send(text)
}

// ended reports the result of a step.
func (u *unitStatus) ended(fault error) error {
	switch {
	case fault == nil && u.fault != "":
		u.fault = ""
		return u.send(u.room)
	case fault != nil && u.fault != fault.Error():
		u.fault = fault.Error()
		return u.send(u.fault)
	}
	return nil
}

// reportSteps makes the status show the failures of a room's steps, and a pull in progress, which
// is no failure for the loop. The loop logs a failure to send the status.
func reportSteps[S, D any](steps loop.Steps[S, D], status *unitStatus) loop.Steps[S, D] {
	observe, apply := steps.Observe, steps.Apply
	steps.Observe = func(ctx context.Context) (S, error) {
		seen, err := observe(ctx)
		if err != nil && ctx.Err() == nil {
			_ = status.ended(err) // the loop logs err, which matters more
		}
		return seen, err
	}
	steps.Apply = func(ctx context.Context, want D) error {
		err := apply(ctx, want)
		if ctx.Err() != nil { // the error of a cancelled step
			return err
		}
		sent := status.ended(err)
		if err == nil || errors.As(err, new(daemon.UnderWay)) {
			return sent
		}
		return err
	}
	return steps
}
