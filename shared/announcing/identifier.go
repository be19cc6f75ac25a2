package announcing

import (
	"fmt"
	"hash/fnv"
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/plan/routed"
)

// identifier is a host's BGP identifier (RFC 6286), and the address that it was made of: the host's
// IPv4 address in its rack, else in a machine network. A host without one has a number made of its
// IPv6 address. The former identifier stays while it can be made of an address of the host.
func identifier(rack routed.Rack, machines []netip.Prefix, own []netip.Addr, former netip.Addr) (
	id, of netip.Addr, err error) {
	var all []netip.Addr
	for _, networks := range [][]netip.Prefix{{rack.Network}, machines} {
		for _, a := range own {
			if slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(a) }) {
				all = append(all, a)
			}
		}
	}
	if len(all) == 0 {
		all = own // of a rack with a name, outside of all networks
	}
	slices.SortStableFunc(all, func(a, b netip.Addr) int { return a.BitLen() - b.BitLen() })
	for _, a := range all {
		if former.IsValid() && identifierOf(a) == former {
			return former, a, nil
		}
	}
	if len(all) == 0 {
		return id, of, fmt.Errorf("this host has no address to be known by: give it one in rack %s",
			rack)
	}
	return identifierOf(all[0]), all[0], nil
}

// identifierOf makes an identifier of an address. Routers refuse 0, and some refuse those that
// could not be a host's address.
func identifierOf(a netip.Addr) netip.Addr {
	if a.Is4() {
		return a
	}
	h := fnv.New32a()
	h.Write(a.AsSlice()) // never fails
	n := h.Sum32()
	return netip.AddrFrom4([4]byte{1 + byte(n>>24)%126, byte(n >> 16), byte(n >> 8), byte(n)})
}
