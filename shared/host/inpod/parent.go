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
)

// parent is a program in a container beside this one that is a daemon's parent, and releases the
// VIPs on request. S is its status.
type parent[S any] struct {
	name   string // in messages, such as FRR's parent
	health *probe.HTTP
	leave  func(now bool) error
	status func() (S, error)
	left   func(S) bool // reports whether this host has released the VIPs
	stays  string       // the fault of a parent that has not released them in time
}

const (
	// answerTimeout is longer than a daemon needs to answer its health check.
	answerTimeout = time.Second
	// releaseBound is more than a parent needs for a handover, or for a release if no host takes
	// the VIP over.
	releaseBound = 10 * time.Second
	releasePoll  = 50 * time.Millisecond
)

// Ensure returns an error if the parent does not answer: the status file of a dead one is stale.
func (p *parent[S]) Ensure(ctx context.Context, _ container.Spec) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	if err := p.health.Probe(ctx); err != nil {
		return fmt.Errorf("%s does not answer; kubelet starts it: %w", p.name, err)
	}
	return nil
}

// Stop requests the release of the VIPs and waits for it. The request stays until the room
// withdraws it, and the container runs on.
func (p *parent[S]) Stop(ctx context.Context, _ string) error {
	if err := p.leave(true); err != nil {
		return fmt.Errorf("ask %s to leave: %w", p.name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, releaseBound)
	defer cancel()
	for {
		status, err := p.status()
		if err != nil {
			return fmt.Errorf("read the status of %s: %w", p.name, err)
		}
		if p.left(status) || errors.Is(p.health.Probe(ctx), syscall.ECONNREFUSED) {
			// A refused connection proves that no parent runs, and the kernel has ended its
			// daemons: the next one removes the VIPs before it starts them. A slow answer proves
			// nothing.
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s %s", p.name, p.stays)
		case <-time.After(releasePoll):
		}
	}
}
