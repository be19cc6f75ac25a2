//go:build remote

package main

import (
	"context"
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/notice"
)

// tellPause is the least time between two tries to write to the cluster.
const tellPause = 5 * time.Second

// TellGone has followGone write.
func (c *nodeCluster) TellGone() { loop.Wake(c.gone) }

// followGone writes, whenever it is asked to, that the bootstrap machine is gone, until ctx ends.
func (c *nodeCluster) followGone(ctx context.Context) error {
	var said loop.News
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.gone:
		}
		err := c.writeGone(ctx)
		if ctx.Err() == nil && err != nil && said.Is(err.Error()) {
			c.log.Warn("tell the cluster that the bootstrap machine is gone", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(tellPause):
		}
	}
}

// writeGone creates the bootstrap machine's object, as one that has left, and leaves one that exists alone: a kubelet has no right to change it.
func (c *nodeCluster) writeGone(ctx context.Context) error {
	return c.api.Put(ctx, c.plan.Namespace, notice.Bootstrap, func(now map[string]string) map[string]string {
		if now != nil {
			return nil
		}
		return notice.EncodeBootstrap([]netip.Addr{}, 0)
	})
}
