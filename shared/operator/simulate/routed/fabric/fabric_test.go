package fabric

import (
	"slices"
	"testing"
)

// TestChoose holds which ports a router uses, and what it announces.
func TestChoose(t *testing.T) {
	const own, other = 1, 2
	through := func(p Path) Path {
		p.Length++
		p.Through |= other
		return p
	}
	for name, tt := range map[string]struct {
		in           map[int]Path
		one, ignores bool
		next         []int
		exported     Path // to port 3
	}{
		"none":                        {in: map[int]Path{}},
		"one":                         {in: map[int]Path{1: Announce(7, 4)}, next: []int{1}, exported: Path{Announcer: 8, Grade: 4, Length: 6, Through: own}},
		"two that are alike":          {in: map[int]Path{0: Announce(6, 4), 1: Announce(7, 4)}, next: []int{0, 1}, exported: Path{Announcer: 7, Grade: 4, Length: 6, Through: own}},
		"the shorter one":             {in: map[int]Path{0: through(Announce(6, 4)), 1: Announce(7, 4)}, next: []int{1}, exported: Path{Announcer: 8, Grade: 4, Length: 6, Through: own}},
		"maximum-paths 1":             {in: map[int]Path{0: Announce(6, 4), 1: Announce(7, 4)}, one: true, next: []int{0}, exported: Path{Announcer: 7, Grade: 4, Length: 6, Through: own}},
		"as-path ignore":              {in: map[int]Path{0: through(Announce(6, 4)), 1: Announce(7, 4)}, ignores: true, next: []int{0, 1}, exported: Path{Announcer: 7, Grade: 4, Length: 7, Through: own | other}},
		"not to where it is from":     {in: map[int]Path{3: Announce(7, 4)}, next: []int{3}},
		"not what has passed it once": {in: map[int]Path{1: {Announcer: 8, Length: 3, Through: own | other}}},
	} {
		r := New(own, 4)
		r.One, r.Ignores = tt.one, tt.ignores
		for port, p := range tt.in {
			r.Learn(port, p)
		}
		if changed := r.Choose(); changed != (len(tt.next) > 0) || !slices.Equal(r.Next, tt.next) || r.Export(3) != tt.exported {
			t.Errorf("%s: ports %v (%t), announces %+v; want %v, %+v", name, r.Next, changed, r.Export(3), tt.next, tt.exported)
		}
	}
}

// TestChoose_Stays holds that a router goes on announcing the path of two which it has announced, and
// that a port whose cable is away is used no more before the next choice.
func TestChoose_Stays(t *testing.T) {
	r := New(1, 2)
	r.Learn(1, Announce(7, 4))
	r.Choose()
	r.Learn(0, Announce(6, 4))
	if !r.Choose() || r.Export(-1).Host() != 7 || r.Learn(0, Announce(6, 4)) || r.Choose() {
		t.Errorf("%+v announces %+v", r, r.Export(-1))
	}
	if !r.Drop(1) || r.Drop(1) || !slices.Equal(r.Next, []int{0}) {
		t.Errorf("%+v", r)
	}
}
