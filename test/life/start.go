package life

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/test/chain"
	"github.com/onprem-infra/onprem-infra/test/fakeline"
)

// Start switches everything on and waits until every control plane node could hold the API VIP.
// With a bootstrap machine that one holds it yet; without, one of the nodes does.
func (l *Life) Start(ctx context.Context) error {
	if l.options.Bootstrap {
		return l.startBehind(ctx)
	}
	return l.startAlone(ctx)
}

// startBehind is an installation: the bootstrap machine first.
func (l *Life) startBehind(ctx context.Context) error {
	if err := l.Boot(ctx); err != nil {
		return err
	}
	if err := l.Install(ctx); err != nil {
		return err
	}
	o, err := l.Observe()
	if err != nil {
		return err
	}
	defer o.Stop()
	bounded, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if _, err := o.Wait(bounded, l.Bootstrap.Name); err != nil {
		return err
	}
	for _, n := range l.all() {
		if err := n.Join(ctx, l.API); err != nil {
			return err
		}
	}
	return l.Settled(ctx)
}

// startAlone starts all nodes side by side. Their gates open as they always do, which takes an API
// that the nodes can reach; so the VIP leads to the first node's server until a node holds it.
func (l *Life) startAlone(ctx context.Context) error {
	way, err := l.lead(l.Nodes[0])
	if err != nil {
		return err
	}
	defer way.close()
	starts := []func() error{func() error { return l.Furnish(ctx) }}
	for _, n := range l.all() {
		starts = append(starts, func() error { return n.start(ctx) })
		if n.API != nil {
			starts = append(starts, func() error { return n.API.Start(ctx) })
		}
	}
	if err := Together(starts...); err != nil {
		return err
	}
	if err := Until(ctx, time.Minute, l.stands); err != nil {
		return fmt.Errorf("no gate opens: %w", err)
	}
	if err := way.close(); err != nil {
		return err
	}
	if err := l.Settled(ctx); err != nil {
		return err
	}
	return l.held(ctx)
}

// Furnish makes the objects that must exist once, and the Nodes, by the first API server, when that
// is ready.
func (l *Life) Furnish(ctx context.Context) error {
	if err := Until(ctx, time.Minute, func() error {
		if l.API.PID() == 0 {
			return fmt.Errorf("%s does not run yet", l.API.Name)
		}
		return nil
	}); err != nil {
		return err
	}
	if err := l.API.Ready(ctx); err != nil {
		return err
	}
	dir := filepath.Join(l.Machine.Scratch(), "cluster")
	if err := l.Render(ctx, "cluster", dir); err != nil {
		return err
	}
	if err := l.create(ctx, dir); err != nil {
		return err
	}
	for _, n := range l.all() {
		if err := n.Register(ctx, l.API); err != nil {
			return err
		}
	}
	return nil
}

// stands reports why no node stands in the election of the API VIP yet.
func (l *Life) stands() error {
	var errs []error
	for _, n := range l.Nodes {
		_, err := n.Instance()
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// held waits until one node alone holds the API VIP.
func (l *Life) held(ctx context.Context) error {
	o, err := l.Observe()
	if err != nil {
		return err
	}
	defer o.Stop()
	return Until(ctx, time.Minute, func() error {
		if holders := o.Holders(); len(holders) != 1 {
			return fmt.Errorf("the VIP is held by %v", holders)
		}
		return nil
	})
}

// way is a FAKE of a bootstrap machine that has the API VIP, and passes connections on to a node.
// It takes no part in an election.
type way struct {
	end  sync.Once
	line *fakeline.Line
	take func() error
}

// lead begins it, on the bootstrap machine's host.
func (l *Life) lead(to *Node) (*way, error) {
	vip := netip.PrefixFrom(chain.APIVIP, 32)
	if err := l.Bootstrap.Give(vip); err != nil {
		return nil, err
	}
	listener, err := l.Bootstrap.Listen(netip.AddrPortFrom(chain.APIVIP, 6443).String())
	if err != nil {
		return nil, err
	}
	line := fakeline.Serve(listener, func(ctx context.Context) (net.Conn, error) {
		return l.Bootstrap.Dial(ctx, "tcp", netip.AddrPortFrom(to.IP, 6443).String())
	})
	return &way{line: line, take: func() error { return l.Bootstrap.Take(vip) }}, nil
}

func (w *way) close() (err error) {
	w.end.Do(func() { err = errors.Join(w.take(), w.line.Close()) })
	return err
}

// Together does things side by side.
func Together(fs ...func() error) error {
	errs := make([]error, len(fs))
	var running sync.WaitGroup
	for i, f := range fs {
		running.Go(func() { errs[i] = f() })
	}
	running.Wait()
	return errors.Join(errs...)
}
