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

// Apply brings the machine to what is desired. It is called at every turn and does nothing when all
// is as it should be. Nodes that cannot be kept cost the VIP nothing now: they become peers, and
// are kept when that works again.
func (r *Room) Apply(ctx context.Context, d Desired) error {
	r.host.Hear(d.Hears)
	if !d.Run {
		return r.end(ctx, d)
	}
	if err := r.stay(); err != nil {
		return err
	}
	r.host.Publish(sources(d))
	// Nodes are kept before they become peers: a peer that a restart would forget would stop
	// hearing this machine.
	kept := r.keep(d.Nodes)
	if err := r.host.Start(names(d.Config)); err != nil { // before it shows, too: a restart that has forgotten it could keep it out
		kept = errors.Join(kept, fmt.Errorf("keep which instances are started: %w", err))
	}
	return errors.Join(r.run(ctx, d), kept)
}

// end gives the VIP up: handed over, if that is wanted and as long as it takes, or else at once.
// The cluster is told of it when it is done: a node that forgot this machine before would not tell
// it that it has taken over.
func (r *Room) end(ctx context.Context, d Desired) error {
	if d.Yield {
		done, err := r.yield()
		if err == nil && !done {
			return r.tell(true, "hands the API VIP over to a control plane node")
		}
		if err != nil {
			return errors.Join(err, r.daemon.Stop(ctx, containerName))
		}
	}
	if err := r.daemon.Stop(ctx, containerName); err != nil {
		return err
	}
	if d.Released {
		r.host.Publish(nil)
	}
	return r.tell(d.Released, idle(d))
}

func (r *Room) keep(nodes []addr.Node) error {
	if slices.EqualFunc(nodes, r.kept, addr.Node.Equal) {
		return nil
	}
	if err := r.host.Keep(nodes); err != nil {
		return fmt.Errorf("keep the control plane nodes: %w", err)
	}
	r.kept = nodes
	return nil
}

// run has keepalived run as is desired, and tells how it does.
func (r *Room) run(ctx context.Context, d Desired) error {
	if err := r.proposal.Make(d.Config, r.host.Propose); err != nil {
		return err
	}
	if err := r.daemon.Ensure(ctx, Container(r.plan)); err != nil {
		return err
	}
	status, err := r.host.Status()
	if err != nil {
		return fmt.Errorf("read the supervisor's status: %w", err)
	}
	if err := r.proposal.Refused(status); err != nil {
		return err
	}
	return r.tell(elected(d.Config, status) && !d.Asking && len(d.Taken) == 0, strings.Join(append([]string{summary(d.Config, status)}, d.Taken...), "; "))
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
	case len(d.Taken) > 0:
		return strings.Join(d.Taken, "; ")
	default:
		return "waits for an address beside the API VIP"
	}
}

// Leave gives the VIP up: the supervisor has keepalived announce priority 0 and take the address
// off before anything else stops.
func (r *Room) Leave(ctx context.Context) error { return r.daemon.Stop(ctx, containerName) }

// tell passes the room's state on to the service manager when it changes, and READY once.
func (r *Room) tell(ready bool, status string) error {
	if status != r.told {
		if err := r.notifier.Status(status); err != nil {
			return err
		}
		r.told = status
	}
	if !ready || r.ready {
		return nil
	}
	r.ready = true
	return r.notifier.Ready()
}

// elected is true once every instance has left INIT: keepalived has opened its sockets and takes
// part.
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
		parts = append(parts, fmt.Sprintf("%s %s on %s (priority %d, %s)", inst.VIP, state, inst.Interface, inst.Priority, mode))
	}
	return strings.Join(parts, "; ")
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
