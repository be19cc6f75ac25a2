//go:build remote

package main

import (
	"context"
	"errors"

	"github.com/onprem-infra/onprem-infra/bootstrap/daemon"
	"github.com/onprem-infra/onprem-infra/shared/host/systemd"
	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// unitStatus is the line that `systemctl status` shows. It is what the room says of itself, but
// while a step of the room fails it is that failure: such a room does not get as far as to say how
// it is, and what it said before may not be true any more.
type unitStatus struct {
	send  func(text string) error
	room  string // what the room said last
	fault string // empty when all is well
}

// Ready tells systemd that the room does its work.
func (*unitStatus) Ready() error { return systemd.Ready() }

// Status is what the room says of itself.
func (u *unitStatus) Status(text string) error {
	u.room = text
	if u.fault != "" {
		return nil // it is sent when the step has ended well
	}
	return u.send(text)
}

// ended takes note of how a step ended.
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

// truthful are the steps of a room whose failures the status shows. So it shows what is under way,
// which is no failure to the loop. A failure of the status itself is logged as the step's, and the
// step is none the worse for it.
func truthful[S, D any](steps loop.Steps[S, D], status *unitStatus) loop.Steps[S, D] {
	observe, apply := steps.Observe, steps.Apply
	steps.Observe = func(ctx context.Context) (S, error) {
		seen, err := observe(ctx)
		if err != nil && ctx.Err() == nil {
			_ = status.ended(err) // the loop logs what matters more
		}
		return seen, err
	}
	steps.Apply = func(ctx context.Context, want D) error {
		err := apply(ctx, want)
		if ctx.Err() != nil { // what a step says because it was told to end
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
