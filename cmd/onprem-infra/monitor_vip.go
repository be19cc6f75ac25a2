//go:build remote

package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/nft"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// everyVIPRound is a heartbeat, which the supervisor expects once a second.
const everyVIPRound = time.Second

func monitorVIPCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "vip",
		Short: "Keep a node's keepalived configured",
		Long: `vip hands keepalived's configuration to onprem-supervise, with the nodes that the API names as peers, and tells it once a second how this
node's balancer, API server, machine config server and ingress router do. This node takes no part in the election of
the API VIP before an API server has been ready behind its balancer once; that is remembered. keepalived lives on when this program ends.

But with timing compat, a control plane node claims a rank in that election, by an annotation of its own Node that its kubelet's credentials
may write. Of those that do equally well the best rank takes the VIP, and whoever holds it keeps it.`,
		Example: `  onprem-infra monitor vip --role=master
  onprem-infra monitor vip --role=worker`,
		Args: cobra.NoArgs,
	}
	m := monitorFlags(cmd, "cluster/vip", std)
	m.roleFlag(cmd, "master or worker")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r, err := m.role()
		if err != nil {
			return err
		}
		if r == role.Arbiter {
			return usage("--role=arbiter: an arbiter holds no VIP")
		}
		p, header, err := m.load(std)
		if err != nil {
			return err
		}
		ctx, cancel := untilStopped(cmd.Context())
		defer cancel()
		return monitorVIP(ctx, m, p, r, header)
	}
	return cmd
}

func monitorVIP(ctx context.Context, m *monitor, p plan.Plan, r role.Role, header string) error {
	host := nodeVIPHost{}
	memory := host.memory(m.log)
	var names []vrrp.CheckName
	fault := map[vrrp.CheckName]bool{}
	for _, w := range vip.Weights(p, r) {
		names, fault[w.Check] = append(names, w.Check), w.Fault
	}
	access := kube.NewAccess(m.credentials(p), m.log)
	before := func(check vrrp.CheckName) bool { return host.tracked(check, fault[check]) }
	gate := r == role.Master && !memory.Open
	checks := vip.NewChecks(names, p.Timing.Model, gate, before, newNodeProber(p, access), m.wake, m.log)
	api := kube.NewAPI(m.credentials(p), m.log)
	seen := newNodeCluster(p, r, api, m.log)
	room := vip.New(p, r, header, memory, host, seen, checks, time.Now)
	steps := loop.Steps[vip.Snapshot, vip.Desired]{Observe: room.Observe, Decide: room.Decide, Apply: room.Apply}
	return runInPod(ctx, m, steps, everyVIPRound, func(ctx context.Context) {
		m.serve(ctx, p.Ports[port.MonitorVIP], map[string]func() error{"/healthz": func() error { return vipAlive(m, checks) }})
		m.watch(ctx, "the node's checks", checks.Run)
		m.watch(ctx, "links", func(ctx context.Context) error { return link.Watch(ctx, m.wake) })
		m.watch(ctx, "the supervisor", func(ctx context.Context) error { return file.Watch(ctx, host.watched(), m.wake) })
		m.watch(ctx, "adverts from beyond a router", dropFarVRRP)
		seen.follow(ctx, m)
	})
}

// everyFilter is how soon a rule is back that somebody has removed, as one does who loads all rules anew.
const everyFilter = 30 * time.Second

// dropFarVRRP keeps adverts out that have passed a router, also while keepalived must hear senders that it does not know.
func dropFarVRRP(ctx context.Context) error {
	tick := time.NewTicker(everyFilter)
	defer tick.Stop()
	for {
		if _, err := nft.DropFarVRRP(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// vipAlive is the monitor's own health: its loop turns and its checks are made. keepalived's is the supervisor's to tell, and FAULT, or the lack of a
// configuration, is no fault of either.
func vipAlive(m *monitor, checks *vip.Checks) error {
	if err := m.alive(); err != nil {
		return err
	}
	if !checks.Alive() {
		return fmt.Errorf("the node's checks stand still")
	}
	return nil
}

// follow keeps up with the API: one watch of nodes, and of small objects those that this node needs.
func (c *nodeCluster) follow(ctx context.Context, m *monitor) {
	turns := loop.NewWake() // of the writer of candidates
	m.watch(ctx, "nodes", func(ctx context.Context) error { return c.nodes.Run(ctx, m.wake, turns) })
	if c.candidates != nil {
		m.watch(ctx, "ingress candidates", func(ctx context.Context) error { return c.candidates.Run(ctx, m.wake) })
	}
	if c.bootstrap == nil {
		return
	}
	m.watch(ctx, "the bootstrap machine", func(ctx context.Context) error { return c.bootstrap.Run(ctx, m.wake) })
	m.watch(ctx, "the bootstrap machine's end", c.followGone)
	m.watch(ctx, "this node's rank", c.followRank)
	m.watch(ctx, "who writes the ingress candidates", func(ctx context.Context) error {
		self, err := c.self(ctx)
		if err != nil {
			return err
		}
		return keepCandidates(ctx, c.plan, self, c.api, c.nodes, turns, m.log)
	})
}

// newNodeCluster follows nothing yet.
func newNodeCluster(p plan.Plan, r role.Role, api *kube.API, log *slog.Logger) *nodeCluster {
	c := &nodeCluster{plan: p, api: api, log: log, gone: loop.NewWake(), claims: loop.NewWake(), said: map[string]string{}, believe: notice.Cluster{Machines: p.MachineNetworks, VIPs: allVIPs(p)}}
	c.nodes = api.ControlPlane(p.ControlPlaneLabel)
	if r == role.Master || vip.WatchesAll(p) {
		c.nodes = api.AllNodes(p.ControlPlaneLabel)
	}
	if !vip.WatchesAll(p) {
		c.candidates = api.Object(p.Namespace, notice.Candidates)
	}
	if r == role.Master {
		c.bootstrap = api.Object(p.Namespace, notice.Bootstrap)
	}
	return c
}
