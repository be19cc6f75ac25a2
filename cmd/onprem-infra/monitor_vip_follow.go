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
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// followAPI watches the cluster's nodes in the API, and writes there what this node reports.
func followAPI(ctx context.Context, m *monitor, seen *members.Cluster) {
	for _, w := range seen.Watches(m.wake) {
		m.watch(ctx, w.What, w.Run)
	}
}

// followChecks makes the node's checks and keeps the file of their results.
func followChecks(ctx context.Context, m *monitor, h node.Host, made *checks.Checks) {
	m.watch(ctx, "the node's checks", made.Run)
	m.watch(ctx, "the checks' results", func(ctx context.Context) error {
		file := h.At(supervised.RunDir, checks.ResultsFile)
		return memory.KeepJSON(ctx, file, "the checks' results", made.Results)
	})
}

// followLacks keeps the files of what this node lacks: instances of VIPs, what a migration waits
// for, and rights that the API has refused to it.
func followLacks(
	ctx context.Context, m *monitor, h node.Host, room *vip.Room, way *migrate.Room,
	missing func() []inspect.MissingRight,
) {
	m.watch(ctx, "which instances are absent", func(ctx context.Context) error {
		file := h.At(supervised.RunDir, absent.File)
		return memory.KeepJSON(ctx, file, "which instances are absent", room.Absent)
	})
	m.watch(ctx, "what the migration waits for", func(ctx context.Context) error {
		file := h.At(supervised.RunDir, migrate.WaitsFile)
		return memory.KeepJSON(ctx, file, "what the migration waits for", way.Lacks)
	})
	m.watch(ctx, "the rights of this node", func(ctx context.Context) error {
		file := h.At(supervised.RunDir, inspect.RightsFile)
		return memory.KeepJSON(ctx, file, "which rights this node lacks", missing)
	})
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
