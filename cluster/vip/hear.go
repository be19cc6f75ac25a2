package vip

import (
	"errors"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// hears are the elections in which this node takes part, or will: also those that its gate keeps it
// from yet, so that it has listened when that opens.
func (r *Room) hears(s Snapshot) (out []clash.Instance) {
	for _, e := range r.elections() {
		for _, v := range e.VIPs {
			if on, err := r.choose(e, v, s); err == nil {
				out = append(out, r.heard(e, v, on))
			}
		}
	}
	return out
}

// heard is an election as whoever listens to it must know it. Its members are known if it is closed
// and the API has named the nodes since this program started: the list of an earlier run may lack a
// node that has joined since.
func (r *Room) heard(e election.Election, v election.VIP, on addr.Choice) clash.Instance {
	if !e.Closed || !r.named {
		return e.ClashInstance(v, on, nil)
	}
	return e.ClashInstance(v, on, append(e.Members(v, on.Address), r.guests(e, v, on.Address)...))
}

// start notes that an instance has been started; the error is why it may not. One that runs was
// started by an earlier run, whose memory may be lost.
func (r *Room) start(e election.Election, v election.VIP, on addr.Choice, s Snapshot) error {
	_, runs := s.Status.Instances[string(v.Instance)]
	known := slices.Contains(r.memory.Started, v.Instance)
	started := known || runs && s.Status.PID != 0
	if ok, why := s.Air.May(r.plan.VRRP.OnClash, r.heard(e, v, on), started); !ok {
		return errors.New(why)
	}
	if !known {
		all := append(slices.Clone(r.memory.Started), v.Instance)
		slices.Sort(all)
		r.memory.Started = all
	}
	return nil
}

// startedBefore are the instances that a run has started which kept no account of them: all of the
// cluster, if it came to know the nodes.
func startedBefore(p plan.Plan, kept Memory) []vrrp.InstanceName {
	if len(kept.Nodes) == 0 {
		return []vrrp.InstanceName{}
	}
	return slices.Sorted(slices.Values(election.Names(p, vrrp.API, vrrp.Ingress, vrrp.DNS)))
}
