package subnet

import (
	"encoding/binary"
	"net/netip"
	"slices"
)

// Span is a range of addresses, from its first to its last one.
type Span struct {
	First netip.Addr `json:"first"`
	Last  netip.Addr `json:"last"`
}

// Spans are addresses as ranges of one each.
func Spans(addresses []netip.Addr) (all []Span) {
	for _, a := range addresses {
		all = append(all, Span{a, a})
	}
	return all
}

// Overlaps reports whether two ranges have an address in common.
func (s Span) Overlaps(other Span) bool {
	return s.First.Compare(other.Last) <= 0 && other.First.Compare(s.Last) <= 0
}

// Gaps are the parts of a range that have no address of some others, in order.
func (s Span) Gaps(without []Span) (all []Span) {
	without = slices.SortedFunc(slices.Values(without),
		func(a, b Span) int { return a.First.Compare(b.First) })
	from := s.First
	for _, used := range without {
		if used.Last.Less(from) || !s.Overlaps(used) {
			continue
		}
		if from.Less(used.First) {
			all = append(all, Span{from, used.First.Prev()})
		}
		from = used.Last.Next()
	}
	if from.IsValid() && !s.Last.Less(from) {
		all = append(all, Span{from, s.Last})
	}
	return all
}

// Nth is the prefix n places behind another one of the same size.
func Nth(first netip.Prefix, n uint64) netip.Prefix {
	each := uint64(1) << (first.Addr().BitLen() - first.Bits())
	return netip.PrefixFrom(Plus(first.Addr(), n*each), first.Bits())
}

// Plus is the address n behind another one. Ranges are within the last 64 bits.
func Plus(addr netip.Addr, n uint64) netip.Addr {
	b := addr.As16()
	binary.BigEndian.PutUint64(b[8:], binary.BigEndian.Uint64(b[8:])+n)
	sum := netip.AddrFrom16(b)
	if addr.Is4() {
		return sum.Unmap()
	}
	return sum
}
