package dns

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/corefile"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/nameserver"
)

// Snapshot is the input of the decision.
type Snapshot struct {
	Links     addr.Snapshot
	Resolvers []nameserver.Resolver
}

// Observe reads the host's addresses and its name servers.
func (r *Room) Observe(context.Context) (Snapshot, error) {
	links, err := r.Host.Links()
	if err != nil {
		return Snapshot{}, fmt.Errorf("read links: %w", err)
	}
	resolvers, err := r.Host.Resolvers()
	if err != nil {
		return Snapshot{}, fmt.Errorf("read the host's name servers: %w", err)
	}
	return Snapshot{Links: links, Resolvers: resolvers}, nil
}

// Decide computes the Corefile. Without a usable name server CoreDNS still answers the cluster's
// own names. It does not poll its file, as the room sends a signal after a change. It does not
// serve /health, which would delay a reload and is not probed here.
func (r *Room) Decide(s Snapshot) (corefile.Config, loop.Reasons) {
	own := func(a netip.Addr) bool { // this machine, or a VIP, which it will hold
		return s.Links.LinkOf(a) != "" || slices.Contains(r.Plan.VIPs.All(), a)
	}
	upstreams, why := nameserver.Upstreams(s.Resolvers, own)
	r.upstreams.Store(int64(len(upstreams)))
	c := corefile.Config{
		Header: r.Header, Zone: r.Plan.Cluster.Zone, Records: r.Plan.Records,
		Upstreams: upstreams, Clients: r.Plan.NameClients(),
	}
	if !r.Plan.AnswersFromMDNS() {
		return c, loop.Reasons{why}
	}
	announced, which := nameserver.Announced(r.Plan, s.Links)
	c.Announced = &announced
	return c, loop.Reasons{why, which}
}
