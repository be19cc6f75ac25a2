package life

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/test/chain"
)

// StartClosed switches every node on, without a bootstrap machine and without the nodes' API
// servers, so that no gate opens. An API server on the bootstrap machine's host, which is a FAKE
// holder of the VIP and takes no part in an election, has the cluster's objects. open starts the
// nodes' servers, and returns when a node holds the VIP and everything is as Start leaves it.
func (l *Life) StartClosed(ctx context.Context) (open func(context.Context) error, err error) {
	first := l.API
	l.closed = true
	var vips []netip.Prefix
	for _, vip := range l.Plan.VIPs.API {
		vips = append(vips, netip.PrefixFrom(vip, vip.BitLen()))
	}
	if l.API, err = l.server("bootstrap", l.Bootstrap, chain.BootstrapIP); err != nil {
		return nil, err
	}
	for _, vip := range vips {
		if err := l.Bootstrap.Give(vip); err != nil {
			return nil, err
		}
	}
	starts := []func() error{func() error { return l.API.Start(ctx) }, func() error { return l.Furnish(ctx) }}
	for _, n := range l.all() {
		starts = append(starts, func() error { return n.start(ctx) })
	}
	if err := Together(starts...); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		l.closed = false
		var starts []func() error
		for _, n := range l.all() {
			starts = append(starts, func() error { return n.serve(ctx) })
		}
		if err := Together(starts...); err != nil {
			return err
		}
		if err := Until(ctx, time.Minute, l.stands); err != nil {
			return fmt.Errorf("no gate opens: %w", err)
		}
		for _, vip := range vips {
			if err := l.Bootstrap.Take(vip); err != nil {
				return err
			}
		}
		former := l.API
		l.API = first
		if err := former.Kill(); err != nil {
			return err
		}
		if err := l.Settled(ctx); err != nil {
			return err
		}
		return l.held(ctx)
	}, nil
}
