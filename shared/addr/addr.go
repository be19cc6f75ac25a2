// Package addr chooses addresses and interfaces from a snapshot of the host's links, addresses and
// routes. It is pure: shared/host/link reads the kernel's state.
package addr

import (
	"net/netip"
	"slices"
	"strconv"
)

// Address is one address of a link as the kernel holds it.
type Address struct {
	Prefix     netip.Prefix // the address itself with its prefix length, host bits kept
	Label      string       // IPv4 only
	Secondary  bool         // IPv4: not the first of its network; IPv6: temporary (privacy)
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

// Neighbour is what the kernel knows of the host that holds an address on a link; the zero value if
// it knows nothing, or nothing yet.
type Neighbour struct {
	// MAC is the hardware address that answers, or that answered and is now probed again; empty if
	// none is known.
	MAC string
	// Absent means that no host has answered the kernel's three probes, a second apart.
	Absent bool
}

// Snapshot is all that address choices depend on.
type Snapshot struct {
	Links  []Link
	Routes []Route
}

// LinkOf names the link that has an address; it is empty if none has. Hosts on different links may
// have the same link-local address, so one with a zone is looked for on that link alone.
func (s Snapshot) LinkOf(a netip.Addr) string {
	for _, l := range s.Links {
		zones := []string{"", l.Name, strconv.Itoa(l.Index)}
		if slices.Contains(zones, a.Zone()) && slices.ContainsFunc(l.Addresses,
			func(has Address) bool { return has.Prefix.Addr() == a.WithZone("") }) {
			return l.Name
		}
	}
	return ""
}

// Loopback is the interface from which a host announces addresses to its routers.
const Loopback = "lo"

// HolderOf names the link on which other hosts find an address here; it is empty if none has it, or
// the loopback interface alone.
func (s Snapshot) HolderOf(a netip.Addr) string {
	s.Links = slices.DeleteFunc(slices.Clone(s.Links), func(l Link) bool {
		return l.Name == Loopback
	})
	return s.LinkOf(a)
}

// Candidate is one node with its addresses in the cluster's API, in the API's order.
type Candidate struct {
	Name string
	// status.addresses of type InternalIP; may lack a family while the node joins
	InternalIPs []netip.Addr
	Annotated   []netip.Addr // all that the network plugin found on the host, VIPs too
}

// Equal reports whether two nodes have the same name and addresses.
func (n Candidate) Equal(m Candidate) bool {
	return n.Name == m.Name && slices.Equal(n.InternalIPs, m.InternalIPs) &&
		slices.Equal(n.Annotated, m.Annotated)
}
