//go:build remote

package main

import (
	"context"
	"log/slog"
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/cluster/migrate"
	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/cluster/vip/absent"
	"github.com/onprem-infra/onprem-infra/cluster/vip/announce"
	"github.com/onprem-infra/onprem-infra/cluster/vip/checks"
	"github.com/onprem-infra/onprem-infra/cluster/vip/publish"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/capture"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/listen"
	"github.com/onprem-infra/onprem-infra/shared/host/members"
	"github.com/onprem-infra/onprem-infra/shared/host/memory"
	"github.com/onprem-infra/onprem-infra/shared/host/meter"
	"github.com/onprem-infra/onprem-infra/shared/host/node"
	"github.com/onprem-infra/onprem-infra/shared/host/recorder"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/orphans"
	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// followAPI watches the cluster's nodes in the API, and writes there what this node reports.
func followAPI(ctx context.Context, m *monitor, seen *members.Cluster) {
	for _, w := range seen.Watches(m.wake) {
		m.watch(ctx, w.What, w.Run)
	}
}

// keepReports keeps the files from which status and others know what this monitor has found.
func keepReports(ctx context.Context, m *monitor, all []memory.Report) {
	m.watch(ctx, "what others read of this node", func(ctx context.Context) error {
		return memory.KeepReports(ctx, all...)
	})
}

// reportRights reports which rights the API has refused to this node.
func reportRights(h node.Host, p plan.Plan, r role.Role, seen *members.Cluster) memory.Report {
	return memory.Report{Path: h.At(supervised.RunDir, inspect.RightsFile),
		What:  "which rights this node lacks",
		Value: func() any { return inspect.RefusedRights(p, r, seen.API.Refused()) }}
}

// reportsOf report the results of the node's checks, what keeps it from holding VIPs or from
// announcing them, and what a migration waits for. announcer is nil if no routers know the VIPs.
func reportsOf(
	h node.Host, made *checks.Checks, room *vip.Room, way *migrate.Room, announcer *announce.Room,
) []memory.Report {
	report := func(file, what string, value func() any) memory.Report {
		return memory.Report{Path: h.At(supervised.RunDir, file), What: what, Value: value}
	}
	all := []memory.Report{
		report(checks.ResultsFile, "the checks' results", func() any { return made.Results() }),
		report(absent.File, "which instances are absent", func() any { return room.Absent() }),
		report(migrate.LacksFile, "what the migration waits for",
			func() any { return way.Lacks() }),
	}
	if announcer != nil {
		all = append(all, report(absent.VIPsFile, "which VIPs are not announced",
			func() any { return announcer.Absent() }))
	}
	return all
}

// followSupervisor wakes the monitor when keepalived's supervisor reports something, or node-ip has
// chosen other addresses. It also removes the VIPs of a supervisor that was killed together with
// its keepalived.
func followSupervisor(ctx context.Context, m *monitor, h node.Host, p plan.Plan) {
	m.watchFiles(ctx, "the supervisor", h.Watched()...)
	if !p.NodeRuns(m.role).VIP {
		return
	}
	m.watch(ctx, "the supervisor's life", func(ctx context.Context) error {
		return orphans.Outlive(ctx, supervised.RunDir, m.log)
	})
}

// newListener receives the adverts of other routers.
func newListener(p plan.Plan, host node.Host, log *slog.Logger) *listen.Listener {
	return listen.New(listen.Options{
		IDs: election.IDs(p), StateFile: host.At(supervised.RunDir, clash.StateFile),
		Status: host.Status, Log: log, Receive: capture.Adverts, Neighbour: listen.AskAgain,
	})
}

// keepJournal records the changes of this host's VRRP groups, and what other routers advertise.
// Each advert that is received goes to adverts.
func (m *machine) keepJournal(
	ctx context.Context, listener *listen.Listener, counted *meter.VIPs,
	adverts func(capture.Received), o recorder.Options,
) {
	written := recorder.New(o)
	m.watch(ctx, "the journal", written.Run)
	m.watch(ctx, "other routers' adverts", func(ctx context.Context) error {
		return listener.Follow(ctx, listen.Outputs{
			Adverts: adverts, Findings: counted.Clashes, Journal: written.AddClash,
		})
	})
}

// noteEvent makes an Event of a journal entry that records a change.
func noteEvent(events *publish.Events, e journal.Entry) {
	switch e.Kind {
	case journal.OfElection:
		events.Note(publish.Change{At: e.At, Instance: e.Instance, VIP: e.VIP,
			Holder: e.State == supervised.Master, Earlier: e.Late, Why: e.Why})
	case journal.OfRoute:
		behind := e.Phase == speak.Demoted
		events.NoteRoute(publish.Route{At: e.At, VIP: e.VIP, Behind: behind,
			Anything: behind || e.Phase == speak.Announced, Earlier: e.Late, Why: e.Why})
	case journal.OfSession, journal.OfBFD:
		events.NoteReach(publish.Reach{At: e.At, Router: e.Peer, BFD: e.Kind == journal.OfBFD,
			Up: e.Up, Earlier: e.Late, Why: e.Why})
	case journal.OfOthers:
		foreign := slices.ContainsFunc(e.Others, func(a netip.Addr) bool { return !a.IsValid() })
		events.NoteOutsider(publish.Outsider{At: e.At, VIP: e.VIP, There: foreign,
			Earlier: e.Late, Why: e.Why})
	}
}
