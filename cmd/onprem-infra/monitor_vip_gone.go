//go:build remote

package main

import (
	"context"

	"github.com/onprem-infra/onprem-infra/shared/notice"
)

// TellGone has followGone write on this node's own Node.
func (c *nodeCluster) TellGone(node string) { c.gone.write(node, notice.Gone) }

// followGone writes, whenever it is asked to, that the bootstrap machine is gone, until ctx ends.
func (c *nodeCluster) followGone(ctx context.Context) error { return c.gone.follow(ctx) }
