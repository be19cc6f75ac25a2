package sharing

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
)

// TestLacks holds what keeps a card from the shared address, the first thing first, and that a card
// needs a link-local address on a network of IPv6 alone.
func TestLacks(t *testing.T) {
	local, other := netip.MustParsePrefix("fe80::1/64"), netip.MustParsePrefix("2001:db8::1/64")
	for _, tt := range []struct {
		name, cidr string
		card       addr.Ethernet
		want, do   string
	}{
		{"disabled", "fd00::/64", addr.Ethernet{Name: "eno2"}, "is down", "ip link set eno2 up"},
		{"no cable", "fd00::/64", addr.Ethernet{Enabled: true}, "has no carrier", "its cable"},
		{"no address", "fd00::/64", addr.Ethernet{Name: "eno2", Enabled: true, Carrier: true, Addresses: []netip.Prefix{other}}, "has no link-local IPv6 address", "net.ipv6.conf.eno2.disable_ipv6"},
		{"ready", "fd00::/64", addr.Ethernet{Enabled: true, Carrier: true, Addresses: []netip.Prefix{other, local}}, "", ""},
		{"IPv4", "172.22.0.0/24", addr.Ethernet{Enabled: true, Carrier: true}, "", ""},
	} {
		got := Lacks(&provision.Plan{CIDR: netip.MustParsePrefix(tt.cidr)}, tt.card)
		if !strings.HasSuffix(got.Seen, tt.want) || (got.Seen == "") != (tt.want == "") || !strings.Contains(got.Do, tt.do) {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}
