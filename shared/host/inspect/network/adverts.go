package network

import (
	"context"
	"net/netip"
	"sync"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/capture"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Group is an instance to listen for, and what this host is in it.
type Group struct {
	clash.Instance
	holds    bool
	priority vrrp.Priority
}

// Groups are those of all VIPs in a network of this host.
func (i Inspector) Groups(
	all []inspect.VIP, vips []facts.VIP, members []facts.Member,
) (out []Group) {
	for n, v := range vips {
		if v.Near {
			g := Group{Instance: all[n].Router, priority: vrrp.Priority(all[n].Priority)}
			g.holds, g.Members = v.Here && v.State == supervised.Master, i.routers(v, members)
			out = append(out, g)
		}
	}
	return out
}

// routers are the addresses of the members of a VIP's election; nil if they are not known: in IPv6
// multicast mode hosts send from their link-local addresses.
func (i Inspector) routers(v facts.VIP, members []facts.Member) (out []netip.Addr) {
	if len(members) == 0 || v.Address.Is6() && i.Plan.VRRP.Mode != spec.Unicast {
		return nil
	}
	for _, m := range members {
		out = append(out, m.Addresses...)
	}
	return append(out, v.Peers...)
}

// Clashes listens for as long as three adverts of a router that sends one a second take. It returns
// what is wrong with them, and free IDs for those that another router has.
func (i Inspector) Clashes(
	ctx context.Context, groups []Group,
) ([]clash.Finding, map[vrrp.Kind]vrrp.ID) {
	observer, links := clash.NewObserver(), map[string]bool{}
	var instances []clash.Instance
	for _, g := range groups {
		links[g.Link], instances = true, append(instances, g.Instance)
	}
	observer.Expect(instances)
	self := func() {
		for _, g := range groups {
			observer.Self(g.Name, g.holds, g.priority, i.Now())
		}
	}
	self()
	var listeners sync.WaitGroup
	var mu sync.Mutex
	for on := range links {
		listeners.Go(func() {
			bound, cancel := context.WithTimeout(ctx, clash.ListenTime)
			defer cancel()
			i.Unseen.Add("adverts of other hosts", i.Adverts(bound, on, func(h capture.Received) {
				mu.Lock()
				defer mu.Unlock()
				observer.Receive(
					clash.Received{Link: on, MAC: h.MAC.String(), At: h.At, Advert: h.Advert})
			}))
		})
	}
	listeners.Wait()
	self()
	now := i.Now()
	found := observer.Findings(now)
	var clashing, taken []vrrp.ID
	for _, f := range found {
		if f.Kind == clash.Foreign {
			clashing = append(clashing, f.ID)
		}
	}
	for on := range links {
		taken = append(taken, observer.Taken(on, now)...)
	}
	return found, clash.Propose(election.IDs(i.Plan), clashing, taken)
}
