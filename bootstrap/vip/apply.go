package vip

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Apply brings the machine to what is desired. What is kept is kept before keepalived is configured: a
// restart that forgets a peer would stop advertising to it, and one that forgets an instance might
// refuse to start it. If nothing can be kept, the VIP is held all the same.
func (r *Room) Apply(ctx context.Context, d Desired) error {
	r.options.Host.Listen(d.Listen)
	if !d.Run {
		return r.end(ctx, d)
	}
	if err := r.withdrawRelease(); err != nil {
		return err
	}
	r.options.Host.Announce(sources(d))
	failed := r.keep(d.Nodes)
	if err := r.options.Host.Start(names(d.Config)); err != nil {
		failed = errors.Join(failed, fmt.Errorf("keep which instances are started: %w", err))
	}
	return errors.Join(r.run(ctx, d), failed)
}

// end releases the VIP: by a handover, if that is wanted, or else at once. The cluster learns of it
// afterwards: a node that dropped this peer earlier would not advertise to it that it took over.
func (r *Room) end(ctx context.Context, d Desired) error {
	if d.Handover {
		done, err := r.handOver()
		if err == nil && !done {
			return r.report(true, "hands the API VIP over to a control plane node")
		}
		if err != nil {
			return errors.Join(err, r.options.Daemon.Stop(ctx, containerName))
		}
	}
	if err := r.options.Daemon.Stop(ctx, containerName); err != nil {
		return err
	}
	if d.Released {
		r.options.Host.Announce(nil)
	}
	return r.report(d.Released, idle(d))
}

func (r *Room) keep(nodes []addr.Candidate) error {
	if slices.EqualFunc(nodes, r.kept, addr.Candidate.Equal) {
		return nil
	}
	if err := r.options.Host.Keep(nodes); err != nil {
		return fmt.Errorf("keep the control plane nodes: %w", err)
	}
	r.kept = nodes
	return nil
}

// run has keepalived run as desired, and reports its state.
func (r *Room) run(ctx context.Context, d Desired) error {
	if err := r.proposal.Make(d.Config, r.options.Host.Propose); err != nil {
		return err
	}
	if err := r.options.Daemon.Ensure(ctx, Container(r.options.Plan)); err != nil {
		return err
	}
	status, err := r.options.Host.Status()
	if err != nil {
		return fmt.Errorf("read the supervisor's status: %w", err)
	}
	if err := r.proposal.Refused(status); err != nil {
		return err
	}
	ready := elected(d.Config, status) && !d.Pending && len(d.Conflicts) == 0
	parts := append([]string{summary(d.Config, status)}, d.Conflicts...)
	return r.report(ready, strings.Join(parts, "; "))
}

func names(c keepalived.Config) (out []vrrp.InstanceName) {
	for _, inst := range c.Instances {
		out = append(out, inst.Name)
	}
	return out
}

// idle is the status line while keepalived does not run.
func idle(d Desired) string {
	switch {
	case d.Released:
		return "the API VIP is not held here"
	case len(d.Conflicts) > 0:
		return strings.Join(d.Conflicts, "; ")
	default:
		return "waits for an address beside the API VIP"
	}
}

// Leave releases the VIP: the supervisor has keepalived advertise priority 0 and remove the address
// before anything else stops.
func (r *Room) Leave(ctx context.Context) error {
	return r.options.Daemon.Stop(ctx, containerName)
}

// report passes the room's state on to the service manager when it changes, and READY once.
func (r *Room) report(ready bool, status string) error {
	if status != r.reported {
		if err := r.options.Notifier.Status(status); err != nil {
			return err
		}
		r.reported = status
	}
	if !ready || r.ready {
		return nil
	}
	r.ready = true
	return r.options.Notifier.Ready()
}

// elected reports whether every instance has left INIT: keepalived has opened its sockets.
func elected(c keepalived.Config, s supervised.Status) bool {
	for _, inst := range c.Instances {
		if state, ok := s.Instances[string(inst.Name)]; !ok || state.State == supervised.Init {
			return false
		}
	}
	return true
}

// summary is the line that `systemctl status` shows.
func summary(c keepalived.Config, s supervised.Status) string {
	parts := make([]string, 0, len(c.Instances))
	for _, inst := range c.Instances {
		state := supervised.Init
		if known, ok := s.Instances[string(inst.Name)]; ok {
			state = known.State
		}
		mode := "multicast"
		if len(inst.Peers) > 0 && inst.Peers[0] != keepalived.Group(inst.VIP) {
			mode = "unicast, " + count(len(inst.Peers), "peer")
		}
		parts = append(parts, fmt.Sprintf("%s %s on %s (priority %d, %s)",
			inst.VIP, state, inst.Interface, inst.Priority, mode))
	}
	return strings.Join(parts, "; ")
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
