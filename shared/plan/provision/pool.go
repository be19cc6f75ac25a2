package provision

import (
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/subnet"
)

// reserved are the addresses of hosts, of both phases.
func (p *Plan) reserved() (all []subnet.Span) {
	for _, h := range p.Hosts {
		if h.Address.IsValid() {
			all = append(all, p.span(h))
		}
	}
	return all
}

// span is what a host has: an address, or over IPv6 a block.
func (p *Plan) span(h Host) subnet.Span {
	if p.DHCP.Block == 0 {
		return subnet.Span{First: h.Address, Last: h.Address}
	}
	end := subnet.Last(netip.PrefixFrom(h.Address, p.DHCP.Block))
	return subnet.Span{First: h.Address, Last: end}
}
