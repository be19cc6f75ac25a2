package inpod

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/host/localhost"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/host/proc"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
)

// process is a process of the pod, held by a pidfd.
type process struct{ held *proc.Process }

func (p *process) runs() bool {
	if p.held != nil && p.held.Signal(0) == nil {
		return true
	}
	p.Drop()
	return false
}

// Drop closes the pidfd. The process goes on.
func (p *process) Drop() {
	if p.held != nil {
		_ = p.held.Close() // a pidfd that is no longer used
	}
	p.held = nil
}

// BootstrapCoreDNS is the CoreDNS process of the bootstrap machine's pod.
type BootstrapCoreDNS struct{ process }

// Running reports whether the process that Ensure has found still runs.
func (c *BootstrapCoreDNS) Running() bool { return c.runs() }

// Ensure finds the process.
func (c *BootstrapCoreDNS) Ensure(_ context.Context, spec container.Spec) error {
	if c.runs() {
		return nil
	}
	found, err := proc.Running(spec.Command)
	if err != nil {
		return fmt.Errorf("CoreDNS does not run; kubelet starts it: %w", err)
	}
	c.held = found
	return nil
}

// Signal sends a signal to the process.
func (c *BootstrapCoreDNS) Signal(sig syscall.Signal) error { return c.held.Signal(sig) }

// Stop does nothing: kubelet stops the pod.
func (*BootstrapCoreDNS) Stop(context.Context, string) error { return nil }

// CoreDNS is the CoreDNS of a node's pod.
type CoreDNS struct {
	process
	command []string
	health  *probe.HTTP
}

// NewCoreDNS takes the command that the process runs.
func NewCoreDNS(p plan.Plan, command []string) *CoreDNS {
	url := fmt.Sprintf("http://localhost:%d/health", p.Ports[port.CoreDNSHealth])
	return &CoreDNS{command: command, health: probe.NewHTTP(url, localhost.Dial)}
}

// Running reports whether the process runs, and whether it is another one than before.
func (c *CoreDNS) Running() (running, another bool) {
	if c.runs() {
		return true, false
	}
	found, err := proc.Running(c.command)
	if err != nil {
		return false, false // it has exited: kubelet starts another
	}
	c.held = found
	return true, true
}

// Serves reports whether it passes its health check.
func (c *CoreDNS) Serves(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	return c.health.Probe(ctx) == nil
}

// Signal ignores a process that has just exited: the next round finds its successor.
func (c *CoreDNS) Signal(sig syscall.Signal) error {
	if err := c.held.Signal(sig); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}
