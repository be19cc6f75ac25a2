package vip

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Snapshot is all that the decision depends on.
type Snapshot struct {
	At     time.Time
	Links  addr.Snapshot
	Agreed []netip.Addr
	Remote bool
	Status supervised.Status
	Served bool
	Air    clash.Air // only where it decides who may start
	Self   string    // the Node whose kubelet's credentials this machine has; empty when they name none

	Nodes      Heard[[]Node]
	Candidates Heard[[]notice.Candidate]
	Bootstrap  Heard[Bootstrap]
}

// Heard is something that the API has said, or has not said yet.
type Heard[T any] struct {
	Is T
	OK bool
}

func heard[T any](is T, ok bool) Heard[T] { return Heard[T]{Is: is, OK: ok} }

// Observe reads the machine, and what is known of the cluster. It judges nothing and waits for
// nobody. Tracked files and the heartbeat come first: a machine that cannot be read still has its
// checks.
func (r *Room) Observe(context.Context) (Snapshot, error) {
	if err := r.live(); err != nil {
		return Snapshot{}, err
	}
	s := Snapshot{At: r.now(), Served: r.memory.Open || r.health.Served()}
	var err error
	if s.Links, err = r.host.Links(); err != nil {
		return Snapshot{}, fmt.Errorf("read links: %w", err)
	}
	if s.Agreed, s.Remote, err = r.host.Agreed(); err != nil {
		return Snapshot{}, fmt.Errorf("read the node's agreed addresses: %w", err)
	}
	if s.Status, err = r.host.Status(); err != nil {
		return Snapshot{}, fmt.Errorf("read the supervisor's status: %w", err)
	}
	if r.plan.VRRP.OnClash == clash.Refuse {
		s.Air = r.host.Air()
	}
	s.Self = r.cluster.Self()
	s.Nodes, s.Candidates, s.Bootstrap = heard(r.cluster.Nodes()), heard(r.cluster.Candidates()), heard(r.cluster.Bootstrap())
	return s, nil
}

// live writes what keepalived is to know of this node's checks, and then that the room lives.
// Without a beat the supervisor takes the node's health away: so a room whose checks stand still,
// or that cannot write, is as good as dead.
func (r *Room) live() error {
	for _, w := range Weights(r.plan, r.role) {
		if err := r.host.Track(w.Check, w.Fault, r.health.Passes(w.Check)); err != nil {
			return fmt.Errorf("write the state of check %s: %w", w.Check, err)
		}
	}
	if err := r.host.Unserved(r.unserved()); err != nil {
		return fmt.Errorf("write what is not served here: %w", err)
	}
	if !r.health.Alive() {
		return fmt.Errorf("the node's checks stand still")
	}
	r.beat++
	if err := r.host.Beat(r.beat); err != nil {
		return fmt.Errorf("tell the supervisor that the monitor lives: %w", err)
	}
	return nil
}

// unserved are the instances whose VIPs this node does not serve at all, by
// vrrp.Candidates.Unserved.
func (r *Room) unserved() (all []vrrp.InstanceName) {
	if r.role != role.Master {
		return nil
	}
	nodes, known := r.plan.VRRP.ControlPlane.Candidates(), len(r.controlPlane())
	if nodes.Unserved(vrrp.API, known, r.health.Passes) {
		all = append(all, election.Names(r.plan, vrrp.API)...)
	}
	if nodes.Unserved(vrrp.DNS, known, r.health.Passes) {
		all = append(all, election.Names(r.plan, vrrp.DNS)...)
	}
	return all
}
