//go:build remote

package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/host/proc"
	"github.com/onprem-infra/onprem-infra/shared/host/services"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// podKeepalived is keepalived's container in a static pod: kubelet starts it, and the supervisor
// releases the VIP on request.
type podKeepalived struct {
	health *probe.HTTP
	leave  func(now bool) error
	status func() (supervised.Status, error)
}

func newPodKeepalived(p plan.Plan) *podKeepalived {
	return &podKeepalived{
		health: services.Supervisor(p),
		leave:  func(now bool) error { return runDir.SetLeave(leaveOwner, now) },
		status: runDir.Status,
	}
}

// Ensure returns an error if the supervisor does not answer: the status file of a dead one is
// stale.
func (k *podKeepalived) Ensure(ctx context.Context, _ container.Spec) error {
	ctx, cancel := context.WithTimeout(ctx, healthAnswer)
	defer cancel()
	if err := k.health.Probe(ctx); err != nil {
		return fmt.Errorf("keepalived's supervisor does not answer; kubelet starts it: %w", err)
	}
	return nil
}

const (
	// releaseBound is more than the supervisor needs for a handover, or for a release if no host
	// takes the VIP over.
	releaseBound = 10 * time.Second
	releasePoll  = 50 * time.Millisecond
)

// Stop requests the release of the VIP and waits for it. The request stays until the room withdraws
// it.
func (k *podKeepalived) Stop(ctx context.Context, _ string) error {
	if err := k.leave(true); err != nil {
		return fmt.Errorf("ask the supervisor to leave: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, releaseBound)
	defer cancel()
	for {
		status, err := k.status()
		if err != nil {
			return fmt.Errorf("read the supervisor's status: %w", err)
		}
		if status.PID == 0 || status.Leaving == supervised.Left || errors.Is(k.health.Probe(ctx), syscall.ECONNREFUSED) {
			// No process holds the VIP: a new supervisor removes it before it starts keepalived. A
			// refused connection proves that none runs; a slow answer does not.
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.New("the supervisor has not given the VIP up")
		case <-time.After(releasePoll):
		}
	}
}

// podCoreDNS is the CoreDNS process of the pod, held by a pidfd. kubelet starts it.
type podCoreDNS struct{ held *proc.Process }

func (c *podCoreDNS) Running() bool {
	if c.held != nil && c.held.Signal(0) == nil {
		return true
	}
	c.drop()
	return false
}

func (c *podCoreDNS) Ensure(_ context.Context, spec container.Spec) error {
	if c.Running() {
		return nil
	}
	found, err := proc.Running(spec.Command)
	if err != nil {
		return fmt.Errorf("CoreDNS does not run; kubelet starts it: %w", err)
	}
	c.held = found
	return nil
}

func (c *podCoreDNS) Signal(sig syscall.Signal) error { return c.held.Signal(sig) }

// Stop does nothing: kubelet stops the pod.
func (*podCoreDNS) Stop(context.Context, string) error { return nil }

func (c *podCoreDNS) drop() {
	if c.held != nil {
		_ = c.held.Close() // the process goes on
	}
	c.held = nil
}
