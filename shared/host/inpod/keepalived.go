// Package inpod finds, checks and signals the daemons that kubelet runs beside this program, in the
// same pod.
package inpod

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/host/services"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// answerTimeout is longer than a daemon needs to answer its health check.
const answerTimeout = time.Second

// Keepalived is keepalived's container in a static pod: the supervisor releases the VIP on request.
type Keepalived struct {
	health *probe.HTTP
	leave  func(now bool) error
	status func() (supervised.Status, error)
}

// NewKeepalived takes the request to release the VIPs, and the supervisor's status.
func NewKeepalived(
	p plan.Plan, leave func(now bool) error, status func() (supervised.Status, error),
) *Keepalived {
	return &Keepalived{health: services.Supervisor(p), leave: leave, status: status}
}

// Ensure returns an error if the supervisor does not answer: the status file of a dead one is
// stale.
func (k *Keepalived) Ensure(ctx context.Context, _ container.Spec) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
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
func (k *Keepalived) Stop(ctx context.Context, _ string) error {
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
		if status.PID == 0 || status.Leaving == supervised.Left ||
			errors.Is(k.health.Probe(ctx), syscall.ECONNREFUSED) {
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
