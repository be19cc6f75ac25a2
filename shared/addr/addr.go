// Package addr chooses addresses and interfaces from a snapshot of the host's links, addresses and
// routes. It is pure: what the kernel says is gathered elsewhere.
package addr

import (
	"net/netip"
	"slices"
)

// Address is one address of a link as the kernel holds it.
type Address struct {
	Prefix     netip.Prefix // the address itself with its prefix length, host bits kept
	Label      string       // IPv4 only
	Secondary  bool         // IPv4: not the first address of its network; IPv6: a temporary (privacy) address
	Deprecated bool         // IPv6 preferred lifetime 0
	Tentative  bool         // duplicate address detection has not ended, or has failed
	Duplicate  bool         // it has failed: another host has the address
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

// Neighbour is what the kernel knows of the host that holds an address on a link. The zero value
// says that nothing is known, or not yet.
type Neighbour struct {
	// MAC is the hardware address that answers, or that has answered and is now asked again; empty
	// when none is known.
	MAC string
	// Absent means that nobody has answered as often as the kernel asks: three times, a second
	// apart.
	Absent bool
}

// Snapshot is all that address choices depend on.
type Snapshot struct {
	Links  []Link
	Routes []Route
}

// LinkOf names the link that has an address; it is empty if none has.
func (s Snapshot) LinkOf(a netip.Addr) string {
	for _, l := range s.Links {
		if slices.ContainsFunc(l.Addresses, func(has Address) bool { return has.Prefix.Addr() == a }) {
			return l.Name
		}
	}
	return ""
}
