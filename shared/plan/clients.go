package plan

import (
	"net/netip"
	"slices"
)

// NameClients are the networks whose hosts the name servers of both phases answer; none for all. A
// host queries its own name server over the loopback, and nodes query each other.
func (p Plan) NameClients() []netip.Prefix {
	if len(p.DNSClients) == 0 {
		return nil
	}
	all := append([]netip.Prefix{
		netip.PrefixFrom(netip.AddrFrom4([4]byte{127}), 8),
		netip.PrefixFrom(netip.IPv6Loopback(), 128),
	}, slices.Concat(p.MachineNetworks, p.DNSClients)...)
	slices.SortFunc(all, netip.Prefix.Compare)
	return slices.Compact(all)
}
