package meter_test

import (
	"net/netip"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/meter"
)

// TestOutside holds which addresses are of other hosts: packets to them leave by an uplink. Pods of this
// host, and of others by a tunnel, are none.
func TestOutside(t *testing.T) {
	route := func(link int, destination string) addr.Route {
		return addr.Route{LinkIndex: link, Destination: netip.MustParsePrefix(destination)}
	}
	links := addr.Snapshot{
		Links: []addr.Link{{Index: 2, Name: "ens3", Addresses: []addr.Address{{Prefix: netip.MustParsePrefix("10.1.1.11/24")}}}},
		Routes: []addr.Route{route(2, "0.0.0.0/0"), route(3, "0.0.0.0/0"), route(2, "10.1.1.0/24"), route(3, "10.1.3.0/24"), route(4, "10.128.0.0/14"),
			route(5, "10.1.1.99/32"), route(4, "2001:db8::/32"), route(2, "::/0")},
	}
	for address, want := range map[string]bool{
		"10.1.1.12": true, "10.1.3.12": true, "203.0.113.7": true, "2001:db9::1": true,
		"10.1.1.11": false, "10.128.2.7": false, "10.1.1.99": false, "2001:db8::7": false,
	} {
		if got := meter.Outside(links, netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %t", address, got)
		}
	}
	if meter.Outside(addr.Snapshot{}, netip.MustParseAddr("10.1.1.12")) {
		t.Error("without a route there is another host")
	}
}
