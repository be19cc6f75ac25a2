package vip

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/vip/bootpeer"
	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/cluster/vip/occupant"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Snapshot is what the decision depends on.
type Snapshot struct {
	At           time.Time
	Links        addr.Snapshot
	Cards        []addr.Ethernet // only where nodes share an address on the provisioning network
	Agreed       []netip.Addr
	Remote       bool
	Status       supervised.Status
	Served       bool
	OtherRouters clash.Snapshot // only where they decide which instance may start
	Occupant     occupant.Finding
	Self         string // the Node that the kubelet's credentials name; empty for none
	Late         string // of migrate.Observation

	Nodes      Answer[[]member.Node]
	Candidates Answer[[]notice.Candidate]
	Bootstrap  Answer[bootpeer.Published]
}

// Answer is the API's last answer; OK is false if there is none yet.
type Answer[T any] struct {
	Is T
	OK bool
}

func answer[T any](is T, ok bool) Answer[T] { return Answer[T]{is, ok} }

// Observe reads the machine and the API's last answers.
func (r *Room) Observe(context.Context) (Snapshot, error) {
	o := r.options
	s := Snapshot{At: o.Now(), Served: r.memory.Open || o.Health.Served(), Late: o.Late()}
	var err error
	if s.Links, err = o.Host.Links(); err != nil {
		return Snapshot{}, fmt.Errorf("read links: %w", err)
	}
	if len(r.plan.VIPs.Provisioning) > 0 {
		if s.Cards, err = o.Host.Cards(); err != nil {
			return Snapshot{}, fmt.Errorf("read the Ethernet links: %w", err)
		}
	}
	if o.Occupant != nil {
		s.Occupant = o.Occupant.Found()
	}
	if s.Agreed, s.Remote, err = o.Host.Agreed(); err != nil {
		return Snapshot{}, fmt.Errorf("read the node's agreed addresses: %w", err)
	}
	if s.Status, err = o.Host.Status(); err != nil {
		return Snapshot{}, fmt.Errorf("read the supervisor's status: %w", err)
	}
	if r.plan.VRRP.OnClash == clash.Refuse {
		s.OtherRouters = o.Host.OtherRouters()
	}
	s.Self = o.Cluster.Self()
	s.Nodes, s.Candidates = answer(o.Cluster.Nodes()), answer(o.Cluster.Candidates())
	s.Bootstrap = answer(o.Cluster.Bootstrap())
	return s, nil
}

// runs reports whether keepalived runs an instance.
func (s Snapshot) runs(name vrrp.InstanceName) bool {
	_, known := s.Status.Instances[string(name)]
	return known && s.Status.PID != 0
}
