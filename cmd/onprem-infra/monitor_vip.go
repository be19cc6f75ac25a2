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
	"github.com/onprem-infra/onprem-infra/cluster/vip/checks"
	"github.com/onprem-infra/onprem-infra/cluster/vip/probes"
	"github.com/onprem-infra/onprem-infra/cluster/vip/publish"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/kube/kubeconfig"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/listen"
	"github.com/onprem-infra/onprem-infra/shared/host/recorder"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/orphans"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/rollout"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

func monitorVIPCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "vip",
		Short: "Keep a node's keepalived configured",
		Long: `vip hands keepalived's configuration to onprem-supervise, with the nodes that the API names as peers, and reports to it once a second
whether this node's balancer, API server, machine config server and ingress router pass their checks. This node is not eligible for the API VIP
before an API server has been ready behind its balancer once; that is remembered. keepalived continues when this program ends.

Except with timing compat, a control plane node claims a rank for the API VIP, by an annotation of its own Node that its kubelet's credentials may
write. Of equally healthy nodes the one of the best rank takes the VIP over, and the holder keeps it.

If the cluster's timing or mode has changed (migrateFrom), this node continues as before until every node that may hold a VIP announces on its own
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
	links := link.NewCache()
	host := nodeVIPHost{links: links.Snapshot}
	host.listener = newListener(p, host, m.log)
	memory, kept := host.memory(m.log), host.migration(m.log)
	if resumed, err := rollout.Resume(m.described, kept.Speaks); err == nil {
		p = resumed
	}
	way := migrate.New(p, clock, kept)
	wanted := p
	p, now := way.Pending(time.Now()), way.InForce(time.Now())
	access := kubeconfig.NewAccess(m.credentials(p), m.log)
	made := nodeChecks(m, host, now, r, r == role.Master && !memory.Open, probes.New(nodeServices(p, access)))
	seen := newNodeCluster(p, r, m.api(p, r), m.log)
	meter := newNodeVIPMeter(now, host, made, vip.Weights(now, r), seen.nodes)
	m.meter.Add(meter.onto)
	seen.meter(m.meter)
	options := vip.Options{
		Plan: wanted, Role: r, Header: header, Memory: memory, Migration: way,
		Host: host, Cluster: seen, Health: made, After: m.later, Now: time.Now,
		Changed: func(p plan.Plan) {
			made.Retime(p.Timing.Model)
			meter.become(p)
			m.describe(p)
		},
	}
	first := newFounding(m, p, r, memory, access)
	if first != nil {
		options.Founding = first
	}
	room := vip.New(options)
	m.describe(now)
	steps := loop.Steps[vip.Snapshot, vip.Desired]{
		Observe: meter.observed(room.Observe), Decide: room.Decide, Publish: room.Publish, Apply: room.Apply,
	}
	return runInPod(ctx, m, m.credentials(p), steps, vip.Interval, func(ctx context.Context) {
		m.serve(ctx, p, p.Ports[port.MonitorVIP], map[string]func() error{"/healthz": func() error { return vipAlive(m, made) }})
		m.watch(ctx, "the node's checks", made.Run)
		m.watch(ctx, "the checks' results", func(ctx context.Context) error {
			return keepJSON(ctx, host.at(election.RunDir, checks.ResultsFile), "the checks' results", made.Results)
		})
		m.watch(ctx, "the rights of this node", func(ctx context.Context) error {
			return host.keepRights(ctx, func() []inspect.MissingRight {
				return inspect.RefusedRights(p, r, seen.api.Refused())
			})
		})
		if first != nil {
			m.watch(ctx, "whether this node is the first one", first.Run)
		}
		m.watch(ctx, "links", func(ctx context.Context) error { return links.Watch(ctx, m.wake) })
		m.watch(ctx, "the supervisor", func(ctx context.Context) error { return file.Watch(ctx, host.watched(), m.wake) })
		m.watch(ctx, "the supervisor's life", func(ctx context.Context) error { return orphans.Outlive(ctx, election.RunDir, m.log) })
		events := publish.NewEvents(seen.api.NodeName, func(ctx context.Context, node string, e publish.Event) error {
			return seen.api.CreateNodeEvent(ctx, node, e.Reason, e.Message, e.At)
		}, m.log)
		written := recorder.New(recorder.Options{
			Plan: p, Run: host.run(), Path: host.at(journal.Path), Checks: checkNamesOf(p, r),
			Passes: made.Passes, Announced: host.listener.Announced, Log: m.log,
			Report: func(e journal.Entry) { events.Note(change(e)) },
		})
		m.watch(ctx, "the journal", written.Run)
		m.watch(ctx, "Events of this node", events.Run)
		m.watch(ctx, "other routers' adverts", func(ctx context.Context) error {
			return host.listener.Follow(ctx, listen.Outputs{
				Adverts: meter.hear, Findings: meter.Clashes, Journal: written.AddClash,
			})
		})
		seen.follow(ctx, m)
	})
}

// nodeChecks are the checks of a node of a role, in the state that an earlier run left.
func nodeChecks(
	m *monitor, host nodeVIPHost, p plan.Plan, r role.Role, gate bool, prober checks.Prober,
) *checks.Checks {
	fault := map[vrrp.CheckName]bool{}
	for _, w := range vip.Weights(p, r) {
		fault[w.Check] = w.Fault
	}
	return checks.New(checks.Options{
		Names: checkNamesOf(p, r), Timing: p.Timing.Model, Gate: gate, Prober: prober,
		Passes: func(check vrrp.CheckName) bool { return host.tracked(check, fault[check]) },
		Wake:   m.wake, Log: m.log,
	})
}

// checkNamesOf are the checks of a node of a role.
func checkNamesOf(p plan.Plan, r role.Role) (names []vrrp.CheckName) {
	for _, w := range vip.Weights(p, r) {
		names = append(names, w.Check)
	}
	return names
}

// change is an entry of the journal as an Event reports it.
func change(e journal.Entry) publish.Change {
	return publish.Change{
		At: e.At, Instance: e.Instance, VIP: e.VIP, Holder: e.State == supervised.Master,
		Earlier: e.Late, Why: e.Why,
	}
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
	written := loop.NewWake() // of the writer of candidates
	m.watch(ctx, "nodes", func(ctx context.Context) error { return c.nodes.Run(ctx, m.wake, written) })
	m.watch(ctx, "how this node speaks VRRP", c.intents.Run)
	if c.candidates != nil {
		m.watch(ctx, "ingress candidates", func(ctx context.Context) error { return c.candidates.Run(ctx, m.wake) })
	}
	if c.bootstrap == nil {
		return
	}
	m.watch(ctx, "the bootstrap machine", func(ctx context.Context) error { return c.bootstrap.Run(ctx, m.wake) })
	m.watch(ctx, "the bootstrap machine's end", c.gone.Run)
	m.watch(ctx, "this node's rank", c.ranks.Run)
	m.watch(ctx, "who writes the ingress candidates", func(ctx context.Context) error {
		self, err := c.self(ctx)
		if err != nil {
			return err
		}
		return keepCandidates(ctx, c.plan, self, c.api, c.nodes, written, m.log)
	})
}

// meter adds what the node follows to its metrics.
func (c *nodeCluster) meter(m *metrics.Meter) {
	m.Follow("nodes", c.nodes.LastReceived)
	if c.candidates != nil {
		m.Follow("candidates", c.candidates.LastReceived)
	}
	if c.bootstrap != nil {
		m.Follow("bootstrap", c.bootstrap.LastReceived)
	}
}

// newNodeCluster follows nothing yet. While a migration is pending it follows what either plan
// needs, and every Node: all have a say in it.
func newNodeCluster(p plan.Plan, r role.Role, api *kube.API, log *slog.Logger) *nodeCluster {
	now, migrates := p, p.Former != nil
	if migrates {
		now = *p.Former
	}
	c := &nodeCluster{plan: p, api: api, log: log, logged: map[string]string{}, believe: candidates.Cluster(p), list: candidates.NewReader(candidates.Cluster(p)),
		ranks:   publish.NewAnnotation(notice.Rank, "claim a rank", api.Annotate, log),
		intents: publish.NewAnnotation(notice.Way, "announce how this node speaks VRRP", api.Annotate, log),
		gone:    publish.NewAnnotation(notice.BootstrapGone, "report that the bootstrap machine is gone", api.Annotate, log)}
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
