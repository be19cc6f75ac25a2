//go:build remote

package main

import (
	"context"

	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/shared/notice"
)

// ClaimRank has followRank write. The last claim counts; until it is written the node has the last
// rank. A claim that waits to be written is withdrawn once there is none: the node has settled on
// a rank, and a late write would take it away again.
func (c *nodeCluster) ClaimRank(claim vip.Claim) {
	if claim == (vip.Claim{}) {
		c.ranks.withdraw()
		return
	}
	c.ranks.write(claim.Node, notice.EncodeRank(claim.Rank))
}

// followRank writes, whenever it is asked to, which rank this node claims, until ctx ends.
func (c *nodeCluster) followRank(ctx context.Context) error { return c.ranks.follow(ctx) }
