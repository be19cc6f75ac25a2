package assign_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/spec/routing/assign"
)

func addrs(text string) (all []netip.Addr) {
	for a := range strings.FieldsSeq(text) {
		all = append(all, netip.MustParseAddr(a))
	}
	return all
}

// TestOf holds which networks belong to one rack, which have no hosts, and which belong nowhere.
func TestOf(t *testing.T) {
	for name, tt := range map[string]struct{ networks, vips, routers, want string }{
		"none":                          {"", "198.51.100.5", "10.1.0.1", "[] [] []"},
		"one":                           {"10.1.0.0/24", "198.51.100.5", "10.1.0.1", "[[10.1.0.0/24]] [] []"},
		"two families":                  {"10.1.0.0/24 fd00:1::/64 10.2.0.0/24 fd00:2::/64", "", "", "[[10.1.0.0/24 fd00:1::/64] [10.2.0.0/24 fd00:2::/64]] [] []"},
		"VIPs alone":                    {"198.51.100.0/24 10.1.0.0/24", "198.51.100.5", "10.1.0.1", "[[10.1.0.0/24]] [198.51.100.0/24] []"},
		"VIPs and hosts":                {"10.1.0.0/24 10.2.0.0/24", "10.2.0.5", "10.1.0.1 10.2.0.1", "[[10.1.0.0/24] [10.2.0.0/24]] [] []"},
		"no network with a router":      {"10.1.0.0/24 10.2.0.0/24", "10.2.0.5", "10.9.0.1", "[[10.1.0.0/24] [10.2.0.0/24]] [] []"},
		"one with that of a family":     {"10.1.0.0/24 fd00:1::/64", "fd00:1::5", "10.1.0.1", "[[10.1.0.0/24 fd00:1::/64]] [] []"},
		"VIPs of both families":         {"10.1.0.0/24 198.51.100.0/24 2001:db8::/64 fd00:1::/64", "198.51.100.5 2001:db8::5", "10.1.0.1 fd00:1::1", "[[10.1.0.0/24 fd00:1::/64]] [198.51.100.0/24 2001:db8::/64] []"},
		"fewer of the other":            {"10.1.0.0/24 10.2.0.0/24 fd00:1::/64", "", "10.1.0.1 fd00:1::1", "[[10.1.0.0/24] [10.2.0.0/24]] [] [fd00:1::/64]"},
		"more of the other, one unused": {"fd00:1::/64 10.1.0.0/24 10.2.0.0/24", "", "10.2.0.1", "[[fd00:1::/64]] [] [10.2.0.0/24]"},
	} {
		var networks []netip.Prefix
		for n := range strings.FieldsSeq(tt.networks) {
			networks = append(networks, netip.MustParsePrefix(n))
		}
		r := assign.Of(networks, addrs(tt.vips), addrs(tt.routers))
		if got := fmt.Sprint(r.Networks, r.VIPs, r.Unpaired); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// TestRacks_Near holds that a rack has the routers of its networks and of none, and all if it has no other.
func TestRacks_Near(t *testing.T) {
	var networks []netip.Prefix
	for _, n := range []string{"10.1.0.0/24", "10.2.0.0/24", "10.3.0.0/24", "fd00:1::/64", "fd00:2::/64", "fd00:3::/64"} {
		networks = append(networks, netip.MustParsePrefix(n))
	}
	routers := addrs("10.1.0.1 10.2.0.1 fd00:2::1 fd00:1::1")
	r := assign.Of(networks, nil, routers)
	for rack, want := range [][]int{{0, 3}, {1, 2}, {0, 1, 2, 3}} {
		if got := r.Near(rack, routers); !slices.Equal(got, want) {
			t.Errorf("rack %d: %v, want %v", rack, got, want)
		}
	}
	if got := r.Near(2, append(routers, netip.MustParseAddr("10.9.0.1"))); !slices.Equal(got, []int{4}) {
		t.Errorf("a router of no rack: %v", got)
	}
}
