//go:build remote

package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/host/localhost"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/host/proc"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// inPodFlag gives a room of the bootstrap machine the flag for a machine where kubelet runs its
// daemon, in the pod of this program.
func inPodFlag(cmd *cobra.Command, daemon string) *bool {
	return cmd.Flags().Bool("in-pod", false, "kubelet runs "+daemon+", in this program's pod: launch none by podman")
}

// podKeepalived is keepalived's container where kubelet keeps it. That it is there is kubelet's to
// see to; whether the VIP is is said to its supervisor.
type podKeepalived struct {
	health *probe.HTTP
	leave  func(now bool) error
	status func() (supervised.Status, error)
}

// supervisorHealth is where keepalived's parent says that it lives. It keeps one connection.
func supervisorHealth(p plan.Plan) *probe.HTTP {
	return probe.NewHTTP(fmt.Sprintf("http://localhost:%d/healthz", p.Ports[port.Supervise]), localhost.Dial)
}

func newPodKeepalived(p plan.Plan) *podKeepalived {
	return &podKeepalived{
		health: supervisorHealth(p),
		leave:  func(now bool) error { return runDir.SetLeave(leaveOwner, now) },
		status: runDir.Status,
	}
}

// Ensure says whether the supervisor works: what a dead one said last is not true any more.
func (k *podKeepalived) Ensure(ctx context.Context, _ container.Spec) error {
	ctx, cancel := context.WithTimeout(ctx, healthAnswer)
	defer cancel()
	if err := k.health.Probe(ctx); err != nil {
		return fmt.Errorf("keepalived's supervisor does not answer; kubelet starts it: %w", err)
	}
	return nil
}

const (
	// leaveBound is more than the supervisor takes to hand the VIP over or, when nobody takes it,
	// to give it up.
	leaveBound = 10 * time.Second
	leaveLook  = 50 * time.Millisecond
)

// Stop has the supervisor give the VIP up and waits for it. The request stays there until the room
// takes it back.
func (k *podKeepalived) Stop(ctx context.Context, _ string) error {
	if err := k.leave(true); err != nil {
		return fmt.Errorf("ask the supervisor to leave: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, leaveBound)
	defer cancel()
	for {
		status, err := k.status()
		if err != nil {
			return fmt.Errorf("read the supervisor's status: %w", err)
		}
		if status.PID == 0 || status.Leaving == supervised.Left || errors.Is(k.health.Probe(ctx), syscall.ECONNREFUSED) {
			return nil // there is nobody who holds it: a supervisor takes the VIP off before it begins. One that is slow to answer is there
		}
		select {
		case <-ctx.Done():
			return errors.New("the supervisor has not given the VIP up")
		case <-time.After(leaveLook):
		}
	}
}

// podCoreDNS is the CoreDNS of the pod, held by a pidfd. kubelet keeps it.
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

// Stop leaves it to kubelet, which ends all of a pod.
func (*podCoreDNS) Stop(context.Context, string) error { return nil }

func (c *podCoreDNS) drop() {
	if c.held != nil {
		_ = c.held.Close() // it is only let go of
	}
	c.held = nil
}
