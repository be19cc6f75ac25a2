package spoken_test

import (
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// TestUse holds what is concluded from the paths that a router reports: its own number is in each.
func TestUse(t *testing.T) {
	const r = "192.0.2.1"
	reported := func(lengths ...int) (all []spoken.Other) {
		for _, n := range lengths {
			all = append(all, spoken.Other{Session: r, Length: n})
		}
		return all
	}
	for _, tt := range []struct {
		name   string
		phase  speak.Phase
		grade  bgp.Grade
		others []spoken.Other
		own    []string
		want   spoken.Use
	}{
		{"nothing", speak.Announced, 4, nil, nil, spoken.UseUnknown},
		{"its own path", speak.Announced, 4, nil, []string{r}, spoken.UseFirst},
		{"its own path at another router", speak.Announced, 4, nil, []string{"192.0.2.2"}, spoken.UseUnknown},
		{"its own path, and a longer one besides", speak.Announced, 4, reported(8), []string{r}, spoken.UseFirst},
		{"another path of another router", speak.Announced, 4, []spoken.Other{{Session: "192.0.2.2", Length: 8}}, nil, spoken.UseUnknown},
		{"one of the same rack, of the same grade", speak.Announced, 4, reported(6), nil, spoken.UseEqual},
		{"one of another rack", speak.Announced, 4, reported(8), nil, spoken.UseNone},
		{"one longer by a number", speak.Announced, 0, reported(3), nil, spoken.UseNone},
		{"the bootstrap machine's", speak.Announced, 4, reported(2), nil, spoken.UseBehind},
		{"several, and the shortest is longer", speak.Announced, 4, reported(9, 8), nil, spoken.UseUnknown},
		{"several, and one is shorter", speak.Announced, 4, reported(9, 5), nil, spoken.UseBehind},
		{"a host that leaves", speak.Demoted, 8, reported(6), nil, spoken.UseBehind},
		{"a host that does not announce", speak.Idle, 0, reported(8), nil, spoken.UseUnknown},
	} {
		v := spoken.VIP{VIP: vip, Phase: tt.phase, Grade: tt.grade, Others: tt.others, Own: tt.own}
		if got := v.Use(r); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}
