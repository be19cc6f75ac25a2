//go:build remote

package main

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/migrate"
	"github.com/onprem-infra/onprem-infra/cluster/vip/announce"
	"github.com/onprem-infra/onprem-infra/cluster/vip/checks"
	"github.com/onprem-infra/onprem-infra/cluster/vip/closed"
	"github.com/onprem-infra/onprem-infra/shared/host/meter"
	"github.com/onprem-infra/onprem-infra/shared/host/node"
	"github.com/onprem-infra/onprem-infra/shared/host/recorder"
	"github.com/onprem-infra/onprem-infra/shared/host/services"
	"github.com/onprem-infra/onprem-infra/shared/host/speakdir"
	"github.com/onprem-infra/onprem-infra/shared/host/speakdir/abandoned"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/speaks"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// newAnnouncer is nil where a node of the monitor's role announces no VIPs to routers. A node that
// has migrated back to VRRP has one until its files are written anew: its speaker runs, and if no
// monitor ran at the instant, the next one has the speaker withdraw.
func newAnnouncer(m *monitor, way *migrate.Room, made *checks.Checks) *announce.Room {
	p := way.Plan()
	by, ok := speaks.Of(p)
	if !ok || !p.NodeRuns(m.role).Speaks {
		return nil
	}
	return announce.New(announce.Options{
		Plan: by, Role: m.role, Host: &node.Speaker{}, Passes: made.Serves,
		Now: time.Now, Log: m.log,
	})
}

// ended ends the announcer, if there is one, in order after a monitor's run that returned err.
func ended(room *announce.Room, err error) error {
	if room == nil {
		return err
	}
	return errors.Join(err, room.End())
}

// recordAnnounced has the journal note what the node announces.
func recordAnnounced(o *recorder.Options, h node.Host, room *announce.Room) {
	if room == nil {
		return
	}
	o.Speaker = speakdir.Dir(h.At(spoken.RunDir))
	o.Unannounced = func() map[netip.Addr]string {
		why := map[netip.Addr]string{}
		for _, v := range room.Absent() {
			why[v.VIP] = v.Why
		}
		return why
	}
}

// followAnnouncer serves the speaker's metrics with its own, and has a change of the rack's name
// ask for a round. It watches the ports behind the VIPs. It also removes the VIPs that a dead
// speaker has left.
func followAnnouncer(
	ctx context.Context, m *monitor, h node.Host, p plan.Plan, room *announce.Room,
	made *checks.Checks,
) {
	if room == nil {
		return
	}
	m.watch(ctx, "the ports behind VIPs", func(ctx context.Context) error {
		return closed.Run(ctx, closed.Options{Services: services.Closed(p, m.role),
			Serves: made.Serves, Fail: made.Fail})
	})
	m.meter.Add(meter.Speaker(speakdir.Dir(h.At(spoken.RunDir))))
	m.watchFiles(ctx, "the rack's name", new(node.Speaker).Watched()...)
	m.watch(ctx, "the speaker's life", func(ctx context.Context) error {
		return abandoned.Watch(ctx, abandoned.Options{Dir: spoken.RunDir, Log: m.log,
			VIPs: slices.Concat(p.VIPs.API, p.VIPs.Ingress, p.VIPs.DNS)})
	})
}
