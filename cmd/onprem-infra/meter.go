//go:build remote

package main

import (
	"context"
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/healthz"
	"github.com/onprem-infra/onprem-infra/shared/host/node"
	"github.com/onprem-infra/onprem-infra/shared/host/proc"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics/program"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// newMeter makes the meter of a room's program.
func newMeter(room string) *program.Meter {
	return program.NewMeter(room, func() (metrics.Process, error) {
		used, err := proc.OwnUsage()
		return metrics.Process{CPU: used.CPU, Resident: used.Resident}, err
	})
}

// describe has the program's metrics name the cluster of p.
func (m *machine) describe(p plan.Plan) {
	m.meter.Describe(p.Cluster.Name, p.Timing.Profile, string(p.VRRP.Mode))
}

// pages are those that a program serves.
func (m *machine) pages() map[string]healthz.Page {
	return map[string]healthz.Page{"/metrics": {Type: metrics.ContentType, Text: m.meter.Text}}
}

// everyAddress is how often a program checks whether this node still has the addresses at which it
// publishes its metrics.
const everyAddress = 5 * time.Second

// serve serves the metrics at the program's own port until ctx ends, and its health check if it
// has one. It retries while the port is in use: a former program may still have it.
func (m *machine) serve(ctx context.Context, p plan.Plan, port uint16, alive func() error) {
	what, checks := "metrics of this host", map[string]func() error{}
	if alive != nil {
		what, checks["/healthz"] = "health", alive
	}
	m.watch(ctx, what, func(ctx context.Context) error {
		return healthz.Serve(ctx, port, checks, m.pages())
	})
	m.publish(ctx, p, port)
}

// publish serves the metrics at the node's addresses if the cluster description asks for that, and
// never at a VIP. At the loopback they are served in any case.
func (m *machine) publish(ctx context.Context, p plan.Plan, port uint16) {
	if p.Metrics != spec.MetricsNode {
		return
	}
	own := func() ([]netip.AddrPort, error) { return node.OwnAddresses(p, port) }
	m.watch(ctx, "metrics", func(ctx context.Context) error {
		return healthz.PublishAt(ctx, own, everyAddress, m.pages())
	})
}
