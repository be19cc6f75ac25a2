package vip

import (
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// Heir is whether a control plane node could serve the VIP once it has it.
type Heir int

// What is known of the control plane nodes.
const (
	NoHeir      Heir = iota // too few are known, or none of them serves
	DoubtedHeir             // one serves, but with a certificate that does not count here
	ReadyHeir               // the API server of one is ready
)

// Heirs are the addresses at which control plane nodes would serve the API VIPs, sorted by VIP. There are none as long as one VIP would be nobody's:
// this machine gives up all of them or none, and nodes that are too few to elect a holder take no part.
func Heirs(p plan.Plan, nodes []addr.Node) []netip.Addr {
	var heirs []netip.Addr
	for _, vip := range p.VIPs.API {
		var known []netip.Addr // a node's one, as nodes are counted
		for _, node := range nodes {
			if first, ok := addr.Member(node, vip, netip.Addr{}, others(p), p.MachineNetworks); ok {
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

// HeirAmong judges what probes of the nodes' API servers saw.
func HeirAmong(seen []health.API) Heir {
	switch {
	case slices.Contains(seen, health.Ready):
		return ReadyHeir
	case slices.Contains(seen, health.Untrusted):
		return DoubtedHeir
	default:
		return NoHeir
	}
}
