//go:build remote

package main

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/cluster/migrate"
	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/cluster/vip/announce"
	"github.com/onprem-infra/onprem-infra/cluster/vip/checks"
	"github.com/onprem-infra/onprem-infra/cluster/vip/founding"
	"github.com/onprem-infra/onprem-infra/cluster/vip/nodestate"
	"github.com/onprem-infra/onprem-infra/cluster/vip/occupant"
	"github.com/onprem-infra/onprem-infra/cluster/vip/probes"
	"github.com/onprem-infra/onprem-infra/cluster/vip/publish"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/kube/kubeconfig"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/members"
	"github.com/onprem-infra/onprem-infra/shared/host/meter"
	"github.com/onprem-infra/onprem-infra/shared/host/node"
	"github.com/onprem-infra/onprem-infra/shared/host/reach"
	"github.com/onprem-infra/onprem-infra/shared/host/recorder"
	"github.com/onprem-infra/onprem-infra/shared/host/services"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/sharing"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

func monitorVIPCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "vip",
		Short: "Keep a node's keepalived configured, and its VIPs announced to routers",
		Long: `vip hands keepalived's configuration to onprem-supervise, with the nodes that the API
names as peers, and reports to it once a second whether this node's balancer, API server, machine
config server and ingress router pass their checks. This node is not eligible for the API VIP before
an API server has been ready behind its balancer once; that is remembered. keepalived continues when
this program ends.

Except with timing compat, a control plane node claims a rank for the API VIP, by an annotation of
its own Node that its kubelet's credentials may write. Of equally healthy nodes the one of the best
rank takes the VIP over, and the holder keeps it.

Where hosts announce VIPs to their routers (vipManagement bgp or both), it writes once a second for
onprem-speak which VIPs this node serves, how well, and which routers it has: those of the rack that
/etc/onprem-infra/rack names, or the label onprem-infra.io/rack of this Node, or else the rack in
whose network this node has an address. If this program is killed, onprem-speak makes the paths of
this node longer than those of all others within 50 ms, and withdraws them after 10 s, as soon as
routers know another node. With bgp alone no keepalived has to run.

With all timings but compat it reports to the other nodes which clients a VIP has that this node
holds. When it takes a VIP over, it has the clients end their connections with the former holder.

If the cluster's timing, mode or vipManagement has changed (migrateFrom), this node continues as
before until every node that may hold a VIP announces on its own Node that it knows the new one, and
no node is being upgraded; then all of them change at one instant.`,
		Example: `  onprem-infra monitor vip --role=master
  onprem-infra monitor vip --role=worker`,
		Args: cobra.NoArgs,
	}
	m := monitorFlags(cmd, "cluster/vip", std)
	m.kubeconfigFlag(cmd)
	m.roleFlag(cmd, "master or worker", "--role=arbiter: an arbiter holds no VIP")
	clock := migrate.Usual()
	cmd.Flags().DurationVar(&clock.Every, "migrate-every", clock.Every,
		"nodes change how they use VRRP at multiples of this time by the clock; the same on "+
			"every node")
	cmd.Flags().DurationVar(&clock.Lead, "migrate-lead", clock.Lead,
		"and have this time at least to agree on the next one")
	work := m.running(std, func(ctx context.Context, p plan.Plan, header string) error {
		return monitorVIP(ctx, m, p, header, clock)
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if clock.Lead <= 0 || clock.Every <= clock.Lead {
			return usage("--migrate-every %v and --migrate-lead %v: the first must be longer, "+
				"and both more than nothing", clock.Every, clock.Lead)
		}
		return work(cmd, args)
	}
	return cmd
}

func monitorVIP(
	ctx context.Context, m *monitor, p plan.Plan, header string, clock migrate.Clock,
) error {
	r := m.role
	links, host := link.NewCache(), node.New("")
	host.Snapshot = links.Snapshot
	host.Listener = newListener(p, host, m.log)
	known, kept := host.Memory(m.log), host.Migration(m.log)
	way, late := migrate.New(p, clock, kept), newLateAdverts(p)
	p, now := way.Pending(time.Now()), way.InForce(time.Now())
	access := kubeconfig.NewAccess(m.credentials(p), m.log)
	made := nodeChecks(m, host, now, r, r == role.Master && !known.Open,
		probes.New(services.Node(p, access)))
	seen, occupied := members.New(p, r, m.api(p), m.log), newOccupant(m, p, r)
	counted := newVIPMeter(m, meter.Options{Plan: now, Host: host, Passes: made.Passes,
		Proven: late.timing, Late: func() bool { return len(way.Lacks()) > 0 }}, seen)
	options := vip.Options{
		Role: r, Header: header, Memory: known, Migration: way, Late: late.why,
		Host: host, Cluster: seen, Health: made, After: m.later, Now: time.Now, Occupant: occupied,
		Changed: func(p plan.Plan) {
			made.Retime(p.Timing.Model)
			counted.SetPlan(p)
			m.describe(p)
		},
	}
	reported := newVIPClients(m, p, seen, links)
	announcer, first := newAnnouncer(m, way, made), newFounding(m, p, known, access)
	room := newVIPRoom(options, announcer, first)
	m.describe(now)
	steps := stepsOf(room)
	steps.Observe = observed(room, counted, reported.refresh)
	run := func(ctx context.Context) {
		m.serve(ctx, p, p.Ports[port.MonitorVIP], func() error { return vipAlive(m, made) })
		m.watch(ctx, "the node's checks", made.Run)
		keepReports(ctx, m, append(reportsOf(host, made, room, way, announcer),
			reportRights(host, p, r, seen)))
		m.watch(ctx, "which machine has the provisioning address", occupied.Run)
		if first != nil {
			m.watch(ctx, "whether this node is the first one", first.Run)
		}
		reported.follow(ctx, m, links)
		followSupervisor(ctx, m, host, p)
		followAnnouncer(ctx, m, host, p, announcer, made)
		events := publish.NewEvents(seen.API.NodeName, seen.CreateEvent, m.log)
		m.watch(ctx, "Events of this node", events.Run)
		recorded := recorder.Options{
			Plan: p, Run: host.Dir, Path: host.At(journal.Path), Checks: checkNamesOf(p, r),
			Passes: made.Passes, Announced: host.Listener.Announced, Log: m.log,
			Report: func(e journal.Entry) { noteEvent(events, e) },
		}
		recordAnnounced(&recorded, host, announcer)
		m.keepJournal(ctx, host.Listener, counted, late.beside(counted.Received), recorded)
		followAPI(ctx, m, seen)
	}
	return ended(announcer, runInPod(ctx, m, m.credentials(p), steps, vip.Interval, run))
}

// newVIPRoom makes the room. A nil pointer must not become an interface that is not nil.
func newVIPRoom(o vip.Options, announcer *announce.Room, first *founding.Founding) *vip.Room {
	if announcer != nil {
		o.Announcer = announcer
	}
	if first != nil {
		o.Founding = first
	}
	return vip.New(o)
}

// newVIPMeter adds the metrics of a node's VIPs to the program's.
func newVIPMeter(m *monitor, o meter.Options, seen *members.Cluster) *meter.VIPs {
	o.Checks, o.Nodes = checkNamesOf(o.Plan, m.role), seen.NodeWatch.Known
	if o.Plan.NodeRuns(m.role).VIP {
		o.Alive = meter.ParentAnswers(o.Plan)
	}
	counted := meter.New(o)
	m.meter.Add(counted.Page)
	seen.Received(m.meter.Follow)
	return counted
}

// observed is the room's Observe, which also records the status for the metrics, and has another
// part refresh what the API reports.
func observed(
	room *vip.Room, counted *meter.VIPs, refresh func(),
) func(context.Context) (vip.Snapshot, error) {
	return func(ctx context.Context) (vip.Snapshot, error) {
		s, err := room.Observe(ctx)
		refresh()
		if err == nil {
			counted.Status(s.Status, time.Now())
		}
		return s, err
	}
}

// nodeChecks are the checks of a node of a role, in the state that an earlier run left.
func nodeChecks(
	m *monitor, host node.Host, p plan.Plan, r role.Role, gate bool, prober checks.Prober,
) *checks.Checks {
	fault := map[vrrp.CheckName]bool{}
	for _, w := range election.Weights(p, r) {
		fault[w.Check] = w.Fault
	}
	return checks.New(checks.Options{
		Names: checkNamesOf(p, r), Timing: p.Timing.Model, Gate: gate, Prober: prober,
		Passes: func(check vrrp.CheckName) bool { return host.Dir.Passes(check, fault[check]) },
		Wake:   m.wake, Log: m.log,
	})
}

// checkNamesOf are the checks of a node of a role.
func checkNamesOf(p plan.Plan, r role.Role) (names []vrrp.CheckName) {
	for _, w := range election.Weights(p, r) {
		names = append(names, w.Check)
	}
	return names
}

// newFounding is nil where no node can be the first one: the control plane has a bootstrap machine
// before it, this node is not part of it, or the API has named its nodes before.
func newFounding(
	m *monitor, p plan.Plan, memory nodestate.Memory, access *kubeconfig.Access,
) *founding.Founding {
	if !p.Flavour().Founds || m.role != role.Master || len(memory.Nodes) > 0 {
		return nil
	}
	return founding.New(founding.Options{
		VIPs: p.VIPs.API, Prober: services.NewFirst(p, access), Wake: m.wake, Log: m.log,
	})
}

// newOccupant asks nothing where nodes share no provisioning address, or this node may not have it.
func newOccupant(m *monitor, p plan.Plan, r role.Role) *occupant.Watch {
	if len(p.VIPs.Provisioning) == 0 || r != role.Master {
		return occupant.New(occupant.Options{})
	}
	var cards []mac.MAC
	for _, h := range p.Provisioning.Hosts {
		if h.Role == string(role.Master) {
			cards = append(cards, h.MAC)
		}
	}
	return occupant.New(occupant.Options{Address: p.VIPs.Provisioning[0], Hosts: cards,
		Network: bootNetwork{p}, Wake: m.wake, Log: m.log})
}

// bootNetwork is the node's network from which hosts boot.
type bootNetwork struct{ plan plan.Plan }

func (n bootNetwork) Card() (string, error) {
	all, err := link.Ethernets()
	if err != nil {
		return "", err
	}
	card, err := sharing.Card(n.plan.Provisioning, all)
	return card.Name, err
}

func (bootNetwork) WhoHas(link string, address netip.Addr) ([]string, error) {
	return reach.WhoHas(link, address)
}

// vipAlive is the monitor's own health: its loop makes rounds and its checks are made. The
// supervisor reports keepalived's health. FAULT, or a missing configuration, is not unhealthy.
func vipAlive(m *monitor, checks interface{ Alive() bool }) error {
	if err := m.alive(); err != nil {
		return err
	}
	if !checks.Alive() {
		return fmt.Errorf("the node's checks stand still")
	}
	return nil
}
