package vip

import (
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/addr/peer"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// Heirs are the addresses at which control plane nodes would serve the API VIPs, sorted by VIP.
// There are none while too few nodes would serve one of them: this machine releases all or none.
// enough reports whether so many nodes suffice: to elect a holder, or a single one by BGP.
func Heirs(p plan.Plan, nodes []addr.Candidate, enough func(nodes int) bool) []netip.Addr {
	var heirs []netip.Addr
	for _, vip := range p.VIPs.API {
		var known []netip.Addr // one per node
		for _, node := range nodes {
			if first, ok := peer.First(node, vip, netip.Addr{}, p.VIPs.All(),
				p.MachineNetworks); ok {
				known = append(known, first)
			}
		}
		slices.SortFunc(known, netip.Addr.Compare)
		known = slices.Compact(known)
		if !enough(len(known)) {
			return nil
		}
		heirs = append(heirs, known...)
	}
	return heirs
}
