package addr

import (
	"fmt"
	"net/netip"
	"strings"
)

// Usable reports whether a node can be known by an address now.
func Usable(a Address) bool {
	return unfit(a) == "" && a.Prefix.Addr() != ovnMasquerade &&
		!a.Tentative // what is tentative cannot be bound
}

// unfit is why a node can never be known by an address; empty if it can.
func unfit(a Address) string {
	ip := a.Prefix.Addr()
	switch {
	case !ip.IsValid():
		return "it is no address"
	case ip.IsLoopback():
		return "it is a loopback address"
	case ip.IsLinkLocalUnicast():
		return "it is a link-local address"
	case !ip.IsGlobalUnicast():
		return "it is no address of one host"
	case a.Deprecated:
		return "it is deprecated: a VIP, or a lease that runs out"
	case a.Duplicate:
		return "another host has it, as duplicate address detection found"
	case strings.Contains(a.Label, "eip"):
		return fmt.Sprintf("its label %s makes it an egress IP, which moves between nodes", a.Label)
	}
	return ""
}

// ovnMasquerade is the address on every node's OVN bridge, the same everywhere.
var ovnMasquerade = netip.MustParseAddr("fd69::2")
