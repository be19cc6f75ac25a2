package sharing

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
)

// Lack is what keeps a card from the shared address. The zero value is nothing.
type Lack struct{ Seen, Do string }

// Lacks is what a node's card on the provisioning network lacks: it is disabled, has no carrier, or
// has no link-local address on a network of IPv6. Neighbour discovery begins with one (RFC 4861
// 4.3), and hosts get router advertisements from it.
func Lacks(p *provision.Plan, card addr.Ethernet) Lack {
	name := fmt.Sprintf("the card %s (%s) of the provisioning network", card.Name, card.MAC)
	switch {
	case !card.Enabled:
		return Lack{name + " is down", fmt.Sprintf("run 'ip link set %s up', and have the "+
			"network's configuration do so at each boot", card.Name)}
	case !card.Carrier:
		return Lack{name + " has no carrier", "check its cable, and the switch's port"}
	case p.CIDR.Addr().Is6() && !hasLinkLocal(card):
		return Lack{name + " has no link-local IPv6 address", fmt.Sprintf("if IPv6 is off there, "+
			"set the sysctl net.ipv6.conf.%s.disable_ipv6 to 0", card.Name)}
	}
	return Lack{}
}

func hasLinkLocal(card addr.Ethernet) bool {
	return slices.ContainsFunc(card.Addresses, func(p netip.Prefix) bool {
		return p.Addr().Is6() && p.Addr().IsLinkLocalUnicast()
	})
}
