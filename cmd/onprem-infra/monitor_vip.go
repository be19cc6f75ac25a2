//go:build remote

package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/cluster/candidates"
	"github.com/onprem-infra/onprem-infra/cluster/migrate"
	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
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
may write. Of those that do equally well the best rank takes the VIP, and whoever holds it keeps it.

Where the cluster has another timing or mode than it had (migrateFrom), this node goes on as before until every node that takes part says on its own
Node that it knows the new one, and no node is being upgraded; then all of them change at one instant.`,
		Example: `  onprem-infra monitor vip --role=master
  onprem-infra monitor vip --role=worker`,
		Args: cobra.NoArgs,
	}
	m := monitorFlags(cmd, "cluster/vip", std)
	m.kubeconfigFlag(cmd)
	m.roleFlag(cmd, "master or worker")
	clock := migrate.Usual()
	cmd.Flags().DurationVar(&clock.Every, "migrate-every", clock.Every, "nodes change how they speak VRRP at multiples of this time by the clock; the same on every node")
	cmd.Flags().DurationVar(&clock.Lead, "migrate-lead", clock.Lead, "and have this time at least to agree on the next one")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		r, err := m.role()
		if err != nil {
			return err
		}
		if r == role.Arbiter {
			return usage("--role=arbiter: an arbiter holds no VIP")
		}
		if clock.Lead <= 0 || clock.Every <= clock.Lead {
			return usage("--migrate-every %v and --migrate-lead %v: the first must be longer, and both more than nothing", clock.Every, clock.Lead)
		}
		p, header, err := m.load(std)
		if err != nil {
			return err
		}
		ctx, cancel := untilStopped(cmd.Context())
		defer cancel()
		return monitorVIP(ctx, m, p, r, header, clock)
	}
	return cmd
}

func monitorVIP(ctx context.Context, m *monitor, p plan.Plan, r role.Role, header string, clock migrate.Clock) error {
	host := nodeVIPHost{links: newKeptLinks()}
	host.ear = newListener(p, host, m.log)
	memory, kept := host.memory(m.log), host.migration(m.log)
	if resumed, err := plan.Resume(m.described, kept.Speaks); err == nil {
		p = resumed
	}
	way := migrate.New(p, clock, kept)
	wanted := p
	p = pending(p, way.Changed(time.Now()))
	now := inForce(p)
	access := kube.NewAccess(m.credentials(p), m.log)
	checks := nodeChecks(m, host, now, r, r == role.Master && !memory.Open, newNodeProber(p, access))
	seen := newNodeCluster(p, r, m.api(p, r), m.log)
	room := vip.New(now, r, header, memory, host, seen, checks, time.Now)
	room.Expect(wanted)
	founding := newFounding(m, p, r, memory, access)
	room.MayFound(founding)
	said := newNodeVIPMeter(now, host, checks, vip.Weights(now, r), seen.nodes)
	m.meter.Add(said.onto)
	host.ear.adverts, host.ear.tells = said.hear, said.Clashes
	seen.tells(m.meter)
	g := &migration{wanted: wanted, room: way, vips: room, cluster: seen, host: host, later: m.later, done: p.Former == nil, kept: kept,
		changed: func(p plan.Plan) {
			checks.become(p.Timing.Model)
			said.become(p)
			m.describe(p)
		}}
	m.describe(now)
	steps := g.steps()
	steps.Observe = said.observed(steps.Observe)
	return runInPod(ctx, m, m.credentials(p), steps, everyVIPRound, func(ctx context.Context) {
		m.serve(ctx, p, p.Ports[port.MonitorVIP], map[string]func() error{"/healthz": func() error { return vipAlive(m, checks) }})
		m.watch(ctx, "the node's checks", checks.Run)
		m.watch(ctx, "what the checks say", func(ctx context.Context) error { return host.keepSaid(ctx, checks.Say) })
		m.watch(ctx, "the rights of this node", func(ctx context.Context) error {
			return host.keepRights(ctx, func() []missingRight { return missingRights(p, r, seen.api.Refused()) })
		})
		if founding != nil {
			m.watch(ctx, "whether this node is the first one", founding.Run)
		}
		m.watch(ctx, "links", func(ctx context.Context) error { return host.links.follow(ctx, m.wake) })
		m.watch(ctx, "the supervisor", func(ctx context.Context) error { return file.Watch(ctx, host.watched(), m.wake) })
		m.watch(ctx, "the supervisor's life", func(ctx context.Context) error { return supervise.Outlive(ctx, election.RunDir, m.log) })
		journal, tells := newNodeWriter(p, r, host, checks, m.log), newTeller(seen.api.NodeName, seen.api.TellOfNode, m.log)
		journal.heard, journal.told, host.ear.journal = host.ear.announced, tells.note, journal.disturbed
		m.watch(ctx, "the journal", journal.follow)
		m.watch(ctx, "Events of this node", tells.follow)
		m.watch(ctx, "who else is in the elections", host.ear.follow)
		seen.follow(ctx, m)
	})
}

// nodeChecks are those of a node of a role, as an earlier run left them. Every profile has the same
// ones.
func nodeChecks(m *monitor, host nodeVIPHost, p plan.Plan, r role.Role, gate bool, prober vip.Prober) *paced {
	var names []vrrp.CheckName
	fault := map[vrrp.CheckName]bool{}
	for _, w := range vip.Weights(p, r) {
		names, fault[w.Check] = append(names, w.Check), w.Fault
	}
	before := func(check vrrp.CheckName) bool { return host.tracked(check, fault[check]) }
	return newPaced(p.Timing.Model, before, func(t vrrp.Timing, before func(vrrp.CheckName) bool) *vip.Checks {
		return vip.NewChecks(names, t, gate, before, prober, m.wake, m.log)
	})
}

// vipAlive is the monitor's own health: its loop turns and its checks are made. keepalived's is the
// supervisor's to tell, and FAULT, or the lack of a configuration, is no fault of either.
func vipAlive(m *monitor, checks interface{ Alive() bool }) error {
	if err := m.alive(); err != nil {
		return err
	}
	if !checks.Alive() {
		return fmt.Errorf("the node's checks stand still")
	}
	return nil
}

// follow keeps up with the API: one watch of nodes, and of small objects those that this node
// needs.
func (c *nodeCluster) follow(ctx context.Context, m *monitor) {
	turns := loop.NewWake() // of the writer of candidates
	m.watch(ctx, "nodes", func(ctx context.Context) error { return c.nodes.Run(ctx, m.wake, turns) })
	m.watch(ctx, "how this node speaks VRRP", c.words.follow)
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

// tells says what the node follows.
func (c *nodeCluster) tells(m *metrics.Meter) {
	m.Follow("nodes", c.nodes.Heard)
	if c.candidates != nil {
		m.Follow("candidates", c.candidates.Heard)
	}
	if c.bootstrap != nil {
		m.Follow("bootstrap", c.bootstrap.Heard)
	}
}

// newNodeCluster follows nothing yet. While a migration is pending it follows what either plan
// needs, and every Node: all have a say in it.
func newNodeCluster(p plan.Plan, r role.Role, api *kube.API, log *slog.Logger) *nodeCluster {
	now, migrates := inForce(p), p.Former != nil
	c := &nodeCluster{plan: p, api: api, log: log, said: map[string]string{}, believe: candidates.Cluster(p), list: candidates.NewReader(candidates.Cluster(p)),
		ranks: newAnnotation(notice.Rank, "claim a rank", api, log), words: newAnnotation(notice.Way, "say how this node speaks VRRP", api, log),
		gone: newAnnotation(notice.BootstrapGone, "tell the cluster that the bootstrap machine is gone", api, log)}
	c.ranked = len(p.VRRP.ControlPlane.Ranks)+len(now.VRRP.ControlPlane.Ranks) > 0
	c.nodes = api.ControlPlane(p.ControlPlaneLabel)
	if r == role.Master || vip.WatchesAll(p) || migrates {
		c.nodes = api.AllNodes(p.ControlPlaneLabel)
	}
	if !vip.WatchesAll(p) || !vip.WatchesAll(now) {
		c.candidates = api.Object(p.Namespace, notice.Candidates)
	}
	if r == role.Master {
		c.bootstrap = api.Object(p.Namespace, notice.Bootstrap)
	}
	return c
}
