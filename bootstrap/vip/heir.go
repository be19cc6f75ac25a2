package vip

import (
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/addr/peer"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// Heirs are the addresses at which control plane nodes would serve the API VIPs, sorted by VIP.
// There are none while one VIP would have no holder: this machine releases all of them or none, and
// too few nodes elect no holder.
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
		slices.SortFunc(known, netip.Addr.Compare)
		known = slices.Compact(known)
		if !p.Elects(len(known)) {
			return nil
		}
		heirs = append(heirs, known...)
	}
	return heirs
}
