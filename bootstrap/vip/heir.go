package vip

import (
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/addr/member"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// Heirs are the addresses at which control plane nodes would serve the API VIPs, sorted by VIP.
// There are none as long as one VIP would be nobody's: this machine gives up all of them or none,
// and nodes that are too few to elect a holder take no part.
func Heirs(p plan.Plan, nodes []addr.Node) []netip.Addr {
	var heirs []netip.Addr
	for _, vip := range p.VIPs.API {
		var known []netip.Addr // a node's one, as nodes are counted
		for _, node := range nodes {
			if first, ok := member.First(node, vip, netip.Addr{}, p.VIPs.All(), p.MachineNetworks); ok {
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
