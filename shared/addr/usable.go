package addr

import (
	"net/netip"
	"strings"
)

// usable says whether an address can be what a node is known by.
func usable(a Address) bool {
	ip := a.Prefix.Addr()
	switch {
	case ip.IsLinkLocalUnicast(), ip.IsLoopback(), ip.IsMulticast(), ip.IsUnspecified():
		return false
	case a.Deprecated: // a VIP of keepalived's, or a lease that runs out
		return false
	case a.Tentative: // cannot be bound
		return false
	case strings.Contains(a.Label, "eip"): // an egress IP: it moves between nodes
		return false
	case ip == ovnMasquerade:
		return false
	}
	return true
}

// ovnMasquerade is on every node's OVN bridge, the same everywhere.
var ovnMasquerade = netip.MustParseAddr("fd69::2")
