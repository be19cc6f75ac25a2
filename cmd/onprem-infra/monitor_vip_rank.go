//go:build remote

package main

import (
	"context"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/notice"
)

// claimPause is the least time between two claims: the watch has shown the last one by then.
const claimPause = time.Second

// ClaimRank has followRank write. The last claim counts.
func (c *nodeCluster) ClaimRank(claim vip.Claim) {
	c.claim.Store(&claim)
	loop.Wake(c.claims)
}

// followRank writes, whenever it is asked to, which rank this node claims, until ctx ends. What cannot be written is tried again as long as it is asked
// for; the node has the last rank meanwhile.
func (c *nodeCluster) followRank(ctx context.Context) error {
	var said loop.News
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.claims:
		}
		claim, pause := *c.claim.Load(), claimPause
		err := c.api.Annotate(ctx, claim.Node, notice.Rank, notice.EncodeRank(claim.Rank))
		if err == nil {
			c.log.Info("claim a rank", "node", claim.Node, "rank", claim.Rank)
		} else {
			pause = tellPause
			if ctx.Err() == nil && said.Is(err.Error()) {
				c.log.Warn("claim a rank", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}
