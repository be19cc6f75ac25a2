package peer

import (
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/addr"
)

// TestMappedIsIPv6 holds K-15: an IPv4-mapped address is never a member for an IPv4 VIP, with the
// VIP in a machine network and behind a router.
func TestMappedIsIPv6(t *testing.T) {
	const mapped, real = "::ffff:192.0.2.11", "192.0.2.12"
	for _, addresses := range []string{mapped, mapped + " " + real, real + " " + mapped} {
		node := addr.Candidate{Name: "n", InternalIPs: ips(addresses), Annotated: ips(addresses)}
		for _, machine := range []string{"192.0.2.0/24", "198.51.100.0/24"} {
			got, ok := First(node, ip("192.0.2.5"), ip(mapped), nil, nets(machine))
			if got == ip(mapped) || ok != (addresses != mapped) {
				t.Errorf("of %s in %s: %v %v", addresses, machine, got, ok)
			}
		}
	}
}
