package vip

import (
	"context"
	"errors"
	"fmt"

	"github.com/onprem-infra/onprem-infra/cluster/vip/absent"
	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Publish writes the node's checks for keepalived, then a heartbeat, then this node's annotations,
// then what it announces to routers. Without a heartbeat the supervisor drops the node's weight: a
// monitor that cannot write, or whose checks are stale, counts as dead. The checks need neither the
// API nor the links. If nothing could be observed, what was reported of the node before stays, and
// a claim that is not written yet.
func (r *Room) Publish(_ context.Context, d Desired) error {
	host, cluster := r.options.Host, r.options.Cluster
	for _, w := range election.Weights(r.plan, r.options.Role) {
		if err := host.Track(w.Check, w.Fault, r.options.Health.Passes(w.Check)); err != nil {
			return fmt.Errorf("write the state of check %s: %w", w.Check, err)
		}
	}
	if err := host.SetUnserved(r.unserved()); err != nil {
		return fmt.Errorf("write which VIPs are not served here: %w", err)
	}
	if !r.options.Health.Alive() {
		return errors.New("the node's checks are stale")
	}
	r.reported.beat++
	if err := host.Beat(r.reported.beat); err != nil {
		return fmt.Errorf("write the heartbeat: %w", err)
	}
	if d.Observed {
		cluster.ClaimRank(d.Claim)
		r.reported.absent.Store(&d.Absent)
	}
	if d.ReportGone != "" {
		cluster.ReportBootstrapGone(d.ReportGone)
	}
	if m := d.Migration; m.Announce {
		cluster.Announce(m.Node, m.Intent)
	}
	if a := r.options.Announcer; a != nil {
		a.Announce(d.Announce)
	}
	return nil
}

// Absent are the instances that this node could have, and has not. Any goroutine may call it.
func (r *Room) Absent() []absent.Instance {
	if all := r.reported.absent.Load(); all != nil && *all != nil {
		return *all
	}
	return []absent.Instance{}
}

// unserved are the instances whose VIPs this node does not serve, by vrrp.Candidates.Unserved.
func (r *Room) unserved() (all []vrrp.InstanceName) {
	if r.options.Role != role.Master {
		return nil
	}
	nodes, known := r.plan.VRRP.ControlPlane.Candidates(), len(member.ControlPlane(r.memory.Nodes))
	for _, kind := range []vrrp.Kind{vrrp.API, vrrp.DNS} {
		if nodes.Unserved(kind, known, r.options.Health.Passes) {
			all = append(all, election.Names(r.plan, kind)...)
		}
	}
	return all
}
