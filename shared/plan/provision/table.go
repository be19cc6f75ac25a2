package provision

import (
	"hash/fnv"
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/subnet"
)

// assign gives each card of the hosts a place of a range: an address over IPv4, a block over IPv6.
// It is a function of the set of hosts, whatever their order in the file: both phases compute it,
// so that no lease has to be handed over, and a lost lease file costs nothing.
//
// A card's place in the range is a hash of its MAC, and the next free one if that is taken. So a
// host that is added or removed moves no other, unless two hashes meet. Cards of the bootstrap
// phase come first: workers, which come and go, never move a control plane node.
func assign(first, last netip.Addr, taken []netip.Addr, hosts []Host) map[mac.MAC]netip.Prefix {
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
	places := subnet.PlacesOf(first, last)
	size := uint64(places.Count)
	used, table := map[netip.Prefix]bool{}, map[mac.MAC]netip.Prefix{}
	for _, t := range taken {
		if place, err := t.Prefix(places.First.Bits()); err == nil {
			used[place] = true
		}
	}
	for _, h := range order {
		if size == 0 {
			break
		}
		hash := fnv.New64a()
		_, _ = hash.Write(h.MAC[:])
		number := hash.Sum64() % size
		for range size {
			place := subnet.Nth(places.First, number)
			if number = (number + 1) % size; !used[place] {
				used[place], table[h.MAC] = true, place
				break
			}
		}
	}
	return table
}
