package members

import (
	"context"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// Watch is a part of the API that this node follows, or writes to, until its context ends.
type Watch struct {
	What string
	Run  func(context.Context) error
}

// Watches follow the nodes, and the small objects that this node needs. They wake the node's loop.
func (c *Cluster) Watches(wake chan<- struct{}) []Watch {
	written := loop.NewWake() // of the writer of candidates
	all := []Watch{
		{"nodes", func(ctx context.Context) error { return c.NodeWatch.Run(ctx, wake, written) }},
		{"how this node uses VRRP", c.Intents.Run},
		{"this node's key for reports of clients", c.Keys.Run},
	}
	if c.follows {
		all = append(all, Watch{"this node's own Node", func(ctx context.Context) error {
			return c.followOwn(ctx, wake)
		}})
	}
	if c.List != nil {
		all = append(all, Watch{"ingress candidates",
			func(ctx context.Context) error { return c.List.Run(ctx, wake) }})
	}
	if c.Published == nil {
		return all
	}
	return append(all,
		Watch{"the bootstrap machine",
			func(ctx context.Context) error { return c.Published.Run(ctx, wake) }},
		Watch{"the bootstrap machine's end", c.Gone.Run},
		Watch{"this node's rank", c.Ranks.Run},
		Watch{"the writer of the ingress candidates", func(ctx context.Context) error {
			self, err := c.self(ctx)
			if err != nil {
				return err
			}
			return c.KeepCandidates(ctx, self, written)
		}},
	)
}

// followOwn follows this node's own Node where no other watch has it, from when the credentials
// name it.
func (c *Cluster) followOwn(ctx context.Context, wake chan<- struct{}) error {
	for c.Self() == "" {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
	own := c.API.OneNode(c.Self(), c.plan.ControlPlaneLabel)
	c.own.Store(own)
	return own.Run(ctx, wake)
}

// Received gives the state of each watch by its name in the metrics: whether it has synced, and
// when the API last sent something.
func (c *Cluster) Received(follow func(name string, state func() (synced bool, last time.Time))) {
	follow("nodes", c.NodeWatch.LastReceived)
	if c.List != nil {
		follow("candidates", c.List.LastReceived)
	}
	if c.Published != nil {
		follow("bootstrap", c.Published.LastReceived)
	}
}
