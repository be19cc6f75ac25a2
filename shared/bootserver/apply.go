package bootserver

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
)

// Publish repeats the last report, so that it is not taken for that of a program which has gone.
// A machine that cannot be observed is not ready, whatever it was before: its fence closes. A
// report that cannot be written does not close it: Apply reports too, and returns that error.
func (r *Room) Publish(context.Context, Desired) error {
	state := r.last
	if state.Part == "" && r.unseen == nil {
		return nil // no round has ended yet
	}
	if r.unseen != nil {
		r.serving.Store(false)
		state.Ready, state.Why = false, r.unseen.Error()
	}
	err := r.reports.Report(state, r.Now(), r.Host.Report)
	if r.unseen == nil {
		return nil
	}
	return err
}

// Apply makes the machine what was decided, and reports that. It runs every round and changes only
// what differs.
func (r *Room) Apply(ctx context.Context, d Desired) error {
	failed := r.apply(ctx, d)
	state := orders.Report{Part: orders.DHCP, Generation: d.Generation,
		On:    !r.released || d.Step == Nothing,
		Ready: failed == nil && d.Step != Wait && len(d.Unknown) == 0, Why: d.Why}
	switch {
	case failed != nil:
		state.Why = failed.Error()
	case len(d.Unknown) > 0:
		state.Why = fmt.Sprintf("%s; the plan has no host of this phase with %s", d.Why,
			loop.List(d.Unknown))
	}
	r.last = state
	r.serving.Store(state.Ready && d.Step == Serve)
	r.hosts.Store(int64(len(d.Hosts)))
	return errors.Join(failed, r.status.Report(true, state.Why),
		r.reports.Report(state, r.Now(), r.Host.Report))
}

func (r *Room) apply(ctx context.Context, d Desired) error {
	switch d.Step {
	case Serve:
		return r.serve(ctx, d)
	case Wait:
		return r.wait()
	}
	return r.release(ctx)
}

// serve has dnsmasq answer the hosts of the set.
func (r *Room) serve(ctx context.Context, d Desired) error {
	r.released = false
	if d.Filter {
		if err := r.Fence.Keep(d.Link, d.Clients); err != nil {
			return fmt.Errorf("filter requests by MAC: %w", err)
		}
		r.Host.Watch(d.Link)
	}
	if err := r.write(d.Files); err != nil {
		return err
	}
	if err := r.run(ctx, d); err != nil {
		return err
	}
	if !d.Filter {
		return nil
	}
	if err := r.Fence.Allow(Open); err != nil {
		return fmt.Errorf("open the fence: %w", err)
	}
	return nil
}

// write writes what differs. A list of hosts that was written has to be read.
func (r *Room) write(files []asset.File) error {
	for _, f := range files {
		changed, err := r.Host.Write(f)
		if err != nil {
			return fmt.Errorf("write %s: %w", f.Path, err)
		}
		if changed && f.Path == layout.DnsmasqHost {
			r.read = false
		}
	}
	return nil
}

// run keeps dnsmasq running with the present configuration and list.
func (r *Room) run(ctx context.Context, d Desired) error {
	c := Container(r.Plan, d.Conf)
	same := r.Daemon.Running() && r.digest == c.Digest()
	r.answered, r.read = r.answered && same, r.read && same
	if err := r.Daemon.Ensure(ctx, c); err != nil {
		return err
	}
	r.digest = c.Digest()
	if !r.answered {
		if err := r.Host.Answers(ctx, d.Server, Asked); err != nil {
			return fmt.Errorf("ask dnsmasq for %s: %w", Asked, err)
		}
		r.answered = true
	}
	if r.reopen.Swap(false) {
		if err := r.Daemon.Signal(syscall.SIGUSR2); err != nil {
			return fmt.Errorf("have dnsmasq open its log again: %w", err)
		}
	}
	if r.read || !d.Filter {
		return nil
	}
	// One that was just started or adopted gets a signal too: the list may have changed after it
	// was read. It answers, so it handles signals.
	if err := r.Daemon.Signal(syscall.SIGHUP); err != nil {
		return fmt.Errorf("have dnsmasq read its hosts: %w", err)
	}
	r.read = true
	return nil
}

// wait keeps a server that lacks something from answering.
func (r *Room) wait() error {
	if r.released {
		return nil
	}
	if err := r.Fence.Close(); err != nil {
		return fmt.Errorf("close the fence: %w", err)
	}
	return nil
}

// release ends the server, and leaves nothing of it. The filter goes last: without it dnsmasq could
// answer. A fence that cannot be closed does not keep dnsmasq from ending.
func (r *Room) release(ctx context.Context) error {
	r.Host.Watch("")
	if r.released {
		return nil
	}
	closed := r.Fence.Close()
	if err := r.Daemon.Stop(ctx, containerName); err != nil {
		return errors.Join(err, closed)
	}
	if err := r.Fence.Remove(); err != nil {
		return fmt.Errorf("remove the packet filter: %w", err)
	}
	r.digest, r.answered, r.read, r.released = "", false, false, true
	return nil
}

// Leave releases what the orders do not want any more. dnsmasq goes on otherwise: this may be a
// restart, and a transfer that ends here is a boot that fails. Without this program its fence
// closes within Open, and no host gets an answer.
func (r *Room) Leave(ctx context.Context) error {
	if o, err := r.Host.Orders(); err == nil && o.Wants(orders.DHCP) {
		r.Host.Watch("")
		return nil
	}
	return r.release(ctx)
}
