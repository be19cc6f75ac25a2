package inpod

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/host/localhost"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// Speaker is FRR's container in a static pod: onprem-speak withdraws the VIPs on request.
type Speaker struct {
	health *probe.HTTP
	leave  func(now bool) error
	status func() (spoken.Status, error)
}

// NewSpeaker takes the request to withdraw the VIPs, and the speaker's status.
func NewSpeaker(
	p plan.Plan, leave func(now bool) error, status func() (spoken.Status, error),
) *Speaker {
	url := fmt.Sprintf("http://localhost:%d/healthz", p.Ports[port.Speaker])
	return &Speaker{health: probe.NewHTTP(url, localhost.Dial), leave: leave, status: status}
}

// Ensure returns an error if the speaker does not answer: the status file of a dead one is stale.
func (s *Speaker) Ensure(ctx context.Context, _ container.Spec) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	if err := s.health.Probe(ctx); err != nil {
		return fmt.Errorf("FRR's parent does not answer; kubelet starts it: %w", err)
	}
	return nil
}

// Stop requests that the VIPs are withdrawn and waits for it. The request stays until the room
// withdraws it, and the container runs on without a route.
func (s *Speaker) Stop(ctx context.Context, _ string) error {
	if err := s.leave(true); err != nil {
		return fmt.Errorf("ask the speaker to leave: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, releaseBound)
	defer cancel()
	for {
		status, err := s.status()
		if err != nil {
			return fmt.Errorf("read the speaker's status: %w", err)
		}
		if status.At.IsZero() || status.Left ||
			errors.Is(s.health.Probe(ctx), syscall.ECONNREFUSED) {
			// Nothing is announced. A refused connection proves that no speaker runs, and the
			// kernel has ended its daemons; a slow answer does not.
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.New("the speaker has not withdrawn the VIPs")
		case <-time.After(releasePoll):
		}
	}
}
