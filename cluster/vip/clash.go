package vip

import (
	"errors"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/election"
)

// listen are the instances for which to observe other routers: also those that are not eligible
// yet, so that their links have been observed for a while when they start.
func (r *Room) listen(s Snapshot) (out []clash.Instance) {
	for _, e := range r.elections() {
		for _, v := range e.VIPs {
			if on, err := r.choose(e, v, s); err == nil {
				out = append(out, r.clashInstance(e, v, on))
			}
		}
	}
	return out
}

// clashInstance is a VIP's instance for a listener. Its members are known if the election is closed
// and the API has named the nodes since this program started: the list of an earlier run may lack a
// node that has joined since.
func (r *Room) clashInstance(e election.Election, v election.VIP, on addr.Choice) clash.Instance {
	if !e.Closed || !r.named {
		return e.ClashInstance(v, on, nil)
	}
	members := append(e.Members(v, on.Address), r.bootstrapPeers(e, v, on.Address)...)
	return e.ClashInstance(v, on, members)
}

// start notes that an instance is started; the error is why it may not. One that runs was started
// by an earlier run, whose memory may be lost.
func (r *Room) start(e election.Election, v election.VIP, on addr.Choice, s Snapshot) error {
	known := slices.Contains(r.memory.Started, v.Instance)
	started := known || s.runs(v.Instance)
	if ok, why := s.OtherRouters.May(r.plan.VRRP.OnClash, r.clashInstance(e, v, on), started); !ok {
		return errors.New(why)
	}
	if !known {
		started := append(slices.Clone(r.memory.Started), v.Instance)
		r.memory.Started = slices.Sorted(slices.Values(started))
	}
	return nil
}
