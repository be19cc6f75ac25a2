package vip

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Apply brings the machine to the desired state. It saves the nodes and the started instances
// first: after a restart without them it would not advertise to a peer, or might refuse to start
// an instance. If they cannot be saved, the VIP is held all the same.
func (r *Room) Apply(ctx context.Context, d Desired) error {
	r.options.Host.Listen(d.Listen)
	if !d.Run {
		return r.end(ctx, d)
	}
	if err := r.withdrawRelease(); err != nil {
		return err
	}
	r.options.Host.Announce(sources(d))
	failed := r.kept.Keep(d.Nodes, r.options.Host.Keep)
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
			return r.reporter.Report(true, "hands the API VIP over to a control plane node")
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
	return r.reporter.Report(d.Released, idle(d))
}

// run has keepalived run as desired, and reports its state.
func (r *Room) run(ctx context.Context, d Desired) error {
	if err := r.proposal.Make(d.Config, r.options.Host); err != nil {
		return err
	}
	if err := r.options.Daemon.Ensure(ctx, Container(r.options.Plan)); err != nil {
		return err
	}
	status, err := r.proposal.Check(r.options.Host)
	if err != nil {
		return err
	}
	ready := elected(d.Config, status) && !d.Pending && len(d.Conflicts) == 0
	parts := append([]string{summary(d.Config, status)}, d.Conflicts...)
	return r.reporter.Report(ready, strings.Join(parts, "; "))
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

// state is the one that keepalived last reported of an instance.
func state(s supervised.Status, inst keepalived.Instance) supervised.State {
	return cmp.Or(s.Instances[string(inst.Name)].State, supervised.Init)
}

// elected reports whether every instance has left INIT: keepalived has opened its sockets.
func elected(c keepalived.Config, s supervised.Status) bool {
	return !slices.ContainsFunc(c.Instances, func(inst keepalived.Instance) bool {
		return state(s, inst) == supervised.Init
	})
}

// summary is the line that `systemctl status` shows.
func summary(c keepalived.Config, s supervised.Status) string {
	parts := make([]string, len(c.Instances))
	for i, inst := range c.Instances {
		mode := "multicast"
		if n := len(inst.Peers); n > 0 && inst.Peers[0] != keepalived.Group(inst.VIP) {
			mode = fmt.Sprintf("unicast, %d peer", n)
			if n > 1 {
				mode += "s"
			}
		}
		parts[i] = fmt.Sprintf("%s %s on %s (priority %d, %s)",
			inst.VIP, state(s, inst), inst.Interface, inst.Priority, mode)
	}
	return strings.Join(parts, "; ")
}
