package dns

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/corefile"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/nameserver"
)

// Snapshot is all that the decision depends on.
type Snapshot struct {
	Links     addr.Snapshot
	Resolvers []nameserver.Resolver
}

// Observe reads the host's addresses and its name servers.
func (r *Room) Observe(context.Context) (Snapshot, error) {
	links, err := r.host.Links()
	if err != nil {
		return Snapshot{}, fmt.Errorf("read links: %w", err)
	}
	resolvers, err := r.host.Resolvers()
	if err != nil {
		return Snapshot{}, fmt.Errorf("read the host's name servers: %w", err)
	}
	return Snapshot{Links: links, Resolvers: resolvers}, nil
}

// Decide says which Corefile should be there. Without any usable name server CoreDNS still answers
// the cluster's own names. It neither polls its file, as it is told of a change, nor serves
// /health, which would hold up a reload and which nobody asks for here.
func (r *Room) Decide(s Snapshot) (corefile.Config, loop.Reasons) {
	upstreams, why := r.upstreams(s)
	c := corefile.Config{
		Header:    r.header,
		Zone:      r.plan.Cluster.Zone,
		Records:   r.plan.Records,
		Upstreams: upstreams,
		Clients:   r.plan.NameClients(),
	}
	if !r.plan.Hears() {
		return c, loop.Reasons{why}
	}
	announced, heard := nameserver.Announced(r.plan, s.Links)
	c.Announced = &announced
	return c, loop.Reasons{why, heard}
}

// upstreams are the name servers that this machine has: neither itself nor a VIP, which it will
// hold.
func (r *Room) upstreams(s Snapshot) ([]netip.Addr, string) {
	own := map[netip.Addr]bool{}
	for _, link := range s.Links.Links {
		for _, a := range link.Addresses {
			own[a.Prefix.Addr()] = true
		}
	}
	for _, vip := range r.plan.VIPs.All() {
		own[vip] = true
	}
	return nameserver.Upstreams(s.Resolvers, func(a netip.Addr) bool { return own[a] })
}
