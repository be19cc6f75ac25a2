package provision

import (
	"encoding/binary"
	"hash/fnv"
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/subnet"
)

// assign gives each card of the hosts an address of a range. It is a function of the set of hosts,
// whatever their order in the file: both phases compute it, so that no lease has to be handed over,
// and a lost lease file costs nothing.
//
// A card's place in the range is a hash of its MAC, and the next free one if that is taken. So a
// host that is added or removed moves no other, unless two hashes meet. Cards of the bootstrap
// phase come first: workers, which come and go, never move a control plane node.
func assign(first, last netip.Addr, taken []netip.Addr, hosts []Host) map[mac.MAC]netip.Addr {
	order := slices.Clone(hosts)
	slices.SortFunc(order, func(a, b Host) int {
		if a.Phase != b.Phase {
			if a.Phase == Bootstrap {
				return -1
			}
			return 1
		}
		return a.MAC.Compare(b.MAC)
	})
	size := uint64(subnet.Size(first, last))
	used, table := map[netip.Addr]bool{}, map[mac.MAC]netip.Addr{}
	for _, t := range taken {
		used[t] = true
	}
	for _, h := range order {
		hash := fnv.New64a()
		_, _ = hash.Write(h.MAC[:])
		place := hash.Sum64() % size
		for range size {
			addr := plus(first, place)
			if place = (place + 1) % size; !used[addr] {
				used[addr], table[h.MAC] = true, addr
				break
			}
		}
	}
	return table
}

// plus is the address so many behind another. Ranges are within the last 64 bits.
func plus(addr netip.Addr, n uint64) netip.Addr {
	b := addr.As16()
	binary.BigEndian.PutUint64(b[8:], binary.BigEndian.Uint64(b[8:])+n)
	sum := netip.AddrFrom16(b)
	if addr.Is4() {
		return sum.Unmap()
	}
	return sum
}
