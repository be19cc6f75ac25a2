// Package addr chooses addresses and interfaces from a snapshot of the host's links, addresses and routes. It is pure: what the kernel
// says is gathered elsewhere.
package addr

import "net/netip"

// Address is one address of a link as the kernel holds it.
type Address struct {
	Prefix     netip.Prefix // the address itself with its prefix length, host bits kept
	Label      string       // IPv4 only
	Secondary  bool         // IPv4: not the first address of its network; IPv6: a temporary (privacy) address
	Deprecated bool         // IPv6 preferred lifetime 0
	Tentative  bool         // duplicate address detection has not ended, or has failed
}

// Link is one network interface.
type Link struct {
	Index     int
	Name      string
	Up        bool // administratively up and with carrier
	Addresses []Address
}

// Route is one route of the main table.
type Route struct {
	LinkIndex   int
	Destination netip.Prefix // /0 of a family is that family's default route
	Gateway     netip.Addr   // invalid when there is none
	Metric      int
	FromRA      bool // protocol RA
}

// Snapshot is all that address choices depend on.
type Snapshot struct {
	Links  []Link
	Routes []Route
}
