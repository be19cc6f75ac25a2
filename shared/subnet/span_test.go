package subnet

import (
	"net/netip"
	"testing"
	"testing/quick"
)

// TestGaps_Properties holds for any addresses in use that a part of the pool has none of them, that
// the parts are in order, and that each free address is in one.
func TestGaps_Properties(t *testing.T) {
	first := netip.MustParseAddr("172.22.0.10")
	whole := Span{first, Plus(first, 200)}
	property := func(used []uint8, wide []uint8) bool {
		var without []Span
		taken := map[netip.Addr]bool{}
		for i, n := range used {
			r := Span{Plus(netip.MustParseAddr("172.22.0.0"), uint64(n)), netip.Addr{}}
			r.Last = r.First
			if i < len(wide) {
				r.Last = Plus(r.First, uint64(wide[i])%20)
			}
			for a := r.First; !r.Last.Less(a); a = a.Next() {
				taken[a] = true
			}
			without = append(without, r)
		}
		free := map[netip.Addr]bool{}
		var before netip.Addr
		for _, part := range whole.Gaps(without) {
			if part.Last.Less(part.First) || before.IsValid() && !before.Less(part.First) {
				t.Logf("%v after %s", part, before)
				return false
			}
			for a := part.First; !part.Last.Less(a); a = a.Next() {
				free[a] = true
			}
			before = part.Last
		}
		for a := whole.First; !whole.Last.Less(a); a = a.Next() {
			if free[a] == taken[a] {
				t.Logf("%s is free: %t, and taken: %t", a, free[a], taken[a])
				return false
			}
			delete(free, a)
		}
		return len(free) == 0
	}
	if err := quick.Check(property, &quick.Config{MaxCount: 500}); err != nil {
		t.Error(err)
	}
}
