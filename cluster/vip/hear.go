package vip

import (
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// hears are the elections in which this node takes part, or will: also those that its gate keeps it from yet, so that it has listened when that opens.
func (r *Room) hears(s Snapshot) (out []clash.Instance) {
	for _, e := range r.elections() {
		for i, vip := range e.vips {
			if choice, err := r.choose(vip, s); err == nil {
				out = append(out, r.heard(e, r.instances(e.vips, e.kind)[i], vip, choice))
			}
		}
	}
	return out
}

// heard is an election as whoever listens to it must know it. Its members are known when it is closed to others, and the API has named the nodes since
// this program started: of an earlier run's list one may be missing that has joined since.
func (r *Room) heard(e election, name vrrp.InstanceName, vip netip.Addr, on addr.Choice) clash.Instance {
	i := clash.Instance{
		Name: name, Kind: e.kind, Link: on.Link, ID: e.id, Version: r.plan.Timing.Model.Version(vip), Interval: r.plan.Timing.Model.Advert, VIP: vip,
		Unicast: r.plan.VRRP.Mode != spec.Multicast, Near: on.OnLink, Own: on.Address,
	}
	if e.closed && r.named {
		i.Members = r.members(e, vip, on.Address)
		if e.kind != vrrp.Ingress { // the bootstrap machine holds the others first
			i.Members = append(i.Members, r.guests(vip, on.Address)...)
		}
	}
	return i
}

// refused is why an instance may not start, empty when it may; it has been started then. One that runs was started by an earlier run, whose memory may be
// lost.
func (r *Room) refused(e election, inst keepalived.Instance, s Snapshot) string {
	_, runs := s.Status.Instances[string(inst.Name)]
	before := slices.Contains(r.memory.Started, inst.Name) || runs && s.Status.PID != 0
	on := addr.Choice{Link: string(inst.Interface), Address: r.seen[inst.VIP].choice.Address}
	if ok, why := s.Air.May(r.plan.VRRP.OnClash, r.heard(e, inst.Name, inst.VIP, on), before); !ok {
		return why
	}
	if !slices.Contains(r.memory.Started, inst.Name) {
		r.memory.Started = slices.Sorted(slices.Values(append(slices.Clone(r.memory.Started), inst.Name)))
	}
	return ""
}

// startedBefore are the instances that a run has started which kept no account of them: all of the cluster, if it came to know the nodes.
func startedBefore(p plan.Plan, kept Memory) []vrrp.InstanceName {
	if len(kept.Nodes) == 0 {
		return []vrrp.InstanceName{}
	}
	r := &Room{plan: p}
	return slices.Sorted(slices.Values(slices.Concat(r.instances(p.VIPs.API, vrrp.API), r.instances(p.VIPs.Ingress, vrrp.Ingress), r.instances(p.VIPs.DNS, vrrp.DNS))))
}
