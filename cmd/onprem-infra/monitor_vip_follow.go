//go:build remote

package main

import (
	"context"

	"github.com/onprem-infra/onprem-infra/cluster/vip/checks"
	"github.com/onprem-infra/onprem-infra/cluster/vip/publish"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/listen"
	"github.com/onprem-infra/onprem-infra/shared/host/recorder"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/orphans"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// followChecks makes the node's checks and keeps the file of their results.
func (h nodeVIPHost) followChecks(ctx context.Context, m *monitor, made *checks.Checks) {
	m.watch(ctx, "the node's checks", made.Run)
	m.watch(ctx, "the checks' results", func(ctx context.Context) error {
		file := h.at(election.RunDir, checks.ResultsFile)
		return keepJSON(ctx, file, "the checks' results", made.Results)
	})
}

// followSupervisor wakes the monitor when keepalived's supervisor reports something. It also removes
// the VIPs of a supervisor that was killed together with its keepalived.
func (h nodeVIPHost) followSupervisor(ctx context.Context, m *monitor) {
	m.watchFiles(ctx, "the supervisor", h.watched()...)
	m.watch(ctx, "the supervisor's life", func(ctx context.Context) error {
		return orphans.Outlive(ctx, election.RunDir, m.log)
	})
}

// keepJournal records the changes of this host's VRRP groups, and what other routers advertise.
func (m *machine) keepJournal(
	ctx context.Context, listener *listen.Listener, meter *vipMeter, o recorder.Options,
) {
	written := recorder.New(o)
	m.watch(ctx, "the journal", written.Run)
	m.watch(ctx, "other routers' adverts", func(ctx context.Context) error {
		return listener.Follow(ctx, listen.Outputs{
			Adverts: meter.recordAdvert, Findings: meter.Clashes, Journal: written.AddClash,
		})
	})
}

// createEvent reports a change as an Event of a Node.
func (c *nodeCluster) createEvent(ctx context.Context, node string, e publish.Event) error {
	return c.api.CreateNodeEvent(ctx, node, e.Reason, e.Message, e.At)
}

// change is an entry of the journal as an Event reports it.
func change(e journal.Entry) publish.Change {
	return publish.Change{
		At: e.At, Instance: e.Instance, VIP: e.VIP, Holder: e.State == supervised.Master,
		Earlier: e.Late, Why: e.Why,
	}
}

// follow watches the API: the nodes, and the small objects that this node needs.
func (c *nodeCluster) follow(ctx context.Context, m *monitor) {
	written := loop.NewWake() // of the writer of candidates
	m.watchAPI(ctx, "nodes", c.nodes, written)
	m.watch(ctx, "how this node uses VRRP", c.intents.Run)
	if c.candidates != nil {
		m.watchAPI(ctx, "ingress candidates", c.candidates)
	}
	if c.bootstrap == nil {
		return
	}
	m.watchAPI(ctx, "the bootstrap machine", c.bootstrap)
	m.watch(ctx, "the bootstrap machine's end", c.gone.Run)
	m.watch(ctx, "this node's rank", c.ranks.Run)
	m.watch(ctx, "the writer of the ingress candidates", func(ctx context.Context) error {
		self, err := c.self(ctx)
		if err != nil {
			return err
		}
		return keepCandidates(ctx, c.plan, self, c.api, c.nodes, written, m.log)
	})
}

// meter adds the watches of the API to the metrics.
func (c *nodeCluster) meter(m *metrics.Meter) {
	m.Follow("nodes", c.nodes.LastReceived)
	if c.candidates != nil {
		m.Follow("candidates", c.candidates.LastReceived)
	}
	if c.bootstrap != nil {
		m.Follow("bootstrap", c.bootstrap.LastReceived)
	}
}
