// Package subnet counts in the network from which hosts boot: which addresses servers take there,
// and which are left for hosts.
package subnet

import "net/netip"

// Default is the provisioning network of a description that names none.
func Default() netip.Prefix { return netip.MustParsePrefix("172.22.0.0/24") }

// The default addresses in a provisioning network, as host numbers; the installer's are the same.
const (
	bootstrapHost = 2
	clusterHost   = 3
	firstHost     = 10
)

// Servers are the addresses that the bootstrap machine and the cluster have in a network, where
// no others are set.
func Servers(cidr netip.Prefix) (bootstrap, cluster netip.Addr) {
	return hostOf(cidr, bootstrapHost), hostOf(cidr, clusterHost)
}

// Range is the range of addresses for hosts: from the tenth to the last but one.
func Range(cidr netip.Prefix) (first, last netip.Addr) {
	first = hostOf(cidr, firstHost)
	if last = Last(cidr).Prev(); !first.IsValid() || last.Less(first) {
		return netip.Addr{}, netip.Addr{}
	}
	return first, last
}

// Free is the largest part of the default range that has none of some addresses; not valid if
// there is none.
func Free(cidr netip.Prefix, without []netip.Addr) (first, last netip.Addr) {
	from, to := Range(cidr)
	for size := 0; from.IsValid() && !to.Less(from); {
		end, next := to, netip.Addr{}
		for _, t := range without {
			if from.Compare(t) <= 0 && t.Compare(end) <= 0 {
				end, next = t.Prev(), t.Next()
			}
		}
		if n := Size(from, end); !end.Less(from) && n > size {
			first, last, size = from, end, n
		}
		from = next
	}
	return first, last
}

// hostOf is the address of a number in a network, not valid if the network is too small.
func hostOf(cidr netip.Prefix, n int) netip.Addr {
	addr := cidr.Masked().Addr()
	for range n {
		addr = addr.Next()
	}
	if !cidr.Contains(addr) || addr == Last(cidr) {
		return netip.Addr{}
	}
	return addr
}

// Last is the last address of a network: all host bits set. A network that is not valid has none.
func Last(cidr netip.Prefix) netip.Addr {
	if !cidr.IsValid() {
		return netip.Addr{}
	}
	bytes := cidr.Masked().Addr().AsSlice()
	for bit := cidr.Bits(); bit < len(bytes)*8; bit++ {
		bytes[bit/8] |= 1 << (7 - bit%8)
	}
	last, _ := netip.AddrFromSlice(bytes)
	return last
}

// Size is how many addresses a range has, at most 2^31-1.
func Size(first, last netip.Addr) int {
	const most = 1<<31 - 1
	a, b := first.As16(), last.As16()
	n := 0
	for i := range a {
		n = n<<8 + int(b[i]) - int(a[i])
		if n > most>>8 && i < len(a)-1 {
			return most
		}
	}
	return min(n+1, most)
}

// BlockBits is the prefix length of what a host has over IPv6. A lease of DHCPv6 belongs to an
// identifier and not to a card, and firmware, iPXE and ramdisk of a host have identifiers of their
// own: each of them needs an address. Sixteen are enough for all boots within a lease.
const BlockBits = 124

// Places are what hosts have of a range, one each: addresses over IPv4, blocks over IPv6. The zero
// value has none.
type Places struct {
	First netip.Prefix
	Count int // at most 2^31-1
}

// PlacesOf are the places that are wholly within a range.
func PlacesOf(first, last netip.Addr) Places {
	switch {
	case !first.IsValid() || !last.IsValid() || first.Is4() != last.Is4() || last.Less(first):
		return Places{}
	case first.Is4():
		return Places{netip.PrefixFrom(first, first.BitLen()), Size(first, last)}
	}
	block, _ := first.WithZone("").Prefix(BlockBits)
	if block.Addr() != first {
		end := Last(block)
		if block, _ = end.Next().Prefix(BlockBits); !block.IsValid() || last.Less(block.Addr()) {
			return Places{}
		}
	}
	const each = 1 << (128 - BlockBits)
	if count := Size(block.Addr(), last) / each; count > 0 {
		return Places{block, count}
	}
	return Places{}
}
