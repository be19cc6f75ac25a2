package addr

import (
	"net/netip"
	"testing"
)

// TestMappedIsIPv6 holds K-15: an IPv4-mapped IPv6 address is printed with dots
// and is IPv6 all the same. It is never chosen for an IPv4 VIP, wherever it stands among the others
// and even when there is no other.
func TestMappedIsIPv6(t *testing.T) {
	const mapped, real = "::ffff:192.0.2.11", "192.0.2.12"
	for _, addresses := range []string{mapped, mapped + " " + real, real + " " + mapped} {
		var l Link
		for _, a := range ips(addresses) {
			l.Addresses = append(l.Addresses, Address{Prefix: netip.PrefixFrom(a, a.BitLen()-8)})
		}
		l.Index, l.Name, l.Up = 2, "a", true
		for _, hint := range []string{"", mapped} {
			for _, vip := range []string{"192.0.2.5", "203.0.113.5"} { // in the network, and behind the default route
				got, err := ForVIP(links(l).with(route(2, "default via 192.0.2.1")), ip(vip), ips(vip), ips(hint))
				if got.Address == ip(mapped) || (err == nil) != (addresses != mapped) {
					t.Errorf("ForVIP %s among %s, hint %q: %v %v", vip, addresses, hint, got, err)
				}
			}
		}
	}
}
