package dns

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/corefile"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/resolvconf"
)

// Snapshot is all that the decision depends on.
type Snapshot struct {
	Links     addr.Snapshot
	Resolvers []Resolver
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

// Decide says which Corefile should be there. Without any usable name server CoreDNS still answers the cluster's own names. It neither
// polls its file, as it is told of a change, nor serves /health, which would hold up a reload and which nobody asks for here.
func (r *Room) Decide(s Snapshot) (corefile.Config, loop.Reasons) {
	upstreams, why := r.upstreams(s)
	c := corefile.Config{
		Header:    r.header,
		Zone:      r.plan.Cluster.Zone,
		Records:   r.plan.Records,
		Upstreams: upstreams,
	}
	if !r.plan.Hears() {
		return c, loop.Reasons{why}
	}
	announced, heard := r.announced(s.Links)
	c.Announced = &announced
	return c, loop.Reasons{why, heard}
}

// announced says who is heard: hosts of this cluster, where this machine would hold the VIP. Without an address there it is everywhere.
func (r *Room) announced(links addr.Snapshot) (corefile.Announced, string) {
	a := corefile.Announced{Cluster: r.plan.Cluster.Name, Members: r.plan.EtcdMembers, Networks: r.plan.MachineNetworks}
	chosen, err := addr.ForNode(links, addr.Wish{VIPs: r.plan.VIPs.All()})
	if err != nil {
		return a, "what nodes announce is heard on every interface: " + err.Error()
	}
	a.On = chosen.Addresses[0]
	return a, fmt.Sprintf("what nodes announce is heard beside %v", a.On)
}

// upstreams are the name servers of the first file that names a usable one. Where systemd-resolved is in charge, the better files name
// only its stub, which would forward to us what we forward to it.
func (r *Room) upstreams(s Snapshot) ([]netip.Addr, string) {
	self := map[netip.Addr]bool{}
	for _, link := range s.Links.Links {
		for _, a := range link.Addresses {
			self[a.Prefix.Addr()] = true
		}
	}
	unusable := func(a netip.Addr) bool {
		return self[a] || slices.Contains(r.plan.VIPs.All(), a)
	}
	for _, file := range s.Resolvers {
		if upstreams := resolvconf.Upstreams(resolvconf.Parse(file.Text), unusable); len(upstreams) > 0 {
			return upstreams, fmt.Sprintf("name servers %v from %s", upstreams, file.Path)
		}
	}
	return nil, "no usable name server in any resolv.conf"
}
