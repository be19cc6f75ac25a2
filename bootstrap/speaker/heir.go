package speaker

import (
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/addr/peer"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// Heirs are the addresses at which control plane nodes serve the API, sorted by VIP. One node that
// serves is enough, as none is elected. There are none while no node serves one of the VIPs: this
// machine withdraws all of them or none.
func Heirs(p plan.Plan, nodes []addr.Candidate) []netip.Addr {
	var heirs []netip.Addr
	for _, vip := range p.VIPs.API {
		var known []netip.Addr // one a node
		for _, node := range nodes {
			if first, ok := peer.First(node, vip, netip.Addr{}, p.VIPs.All(),
				p.MachineNetworks); ok {
				known = append(known, first)
			}
		}
		if len(known) == 0 {
			return nil
		}
		slices.SortFunc(known, netip.Addr.Compare)
		heirs = append(heirs, slices.Compact(known)...)
	}
	return heirs
}
