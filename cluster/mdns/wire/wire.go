// Package wire is the message format of multicast DNS (RFC 6762 and RFC 6763): packets, names and
// records, and the link that they are sent on.
package wire

import (
	"net/netip"
	"slices"
	"time"
)

// Port is the port of multicast DNS, of both ends.
const Port = 5353

// Groups are where multicast DNS is spoken, by family. Neither leaves its link.
func Groups() (v4, v6 netip.Addr) {
	return netip.AddrFrom4([4]byte{224, 0, 0, 251}), netip.AddrFrom16([16]byte{0: 0xff, 1: 2, 15: 0xfb})
}

// Packet is one that was heard.
type Packet struct {
	From      netip.AddrPort
	Multicast bool // it was sent to the group, and not to this host alone
	Data      []byte
}

// Outgoing is a packet to send.
type Outgoing struct {
	To   netip.AddrPort // the zero value: the groups, by each family that there is a socket of
	Data []byte
}

// Jitter chooses by chance how long to wait, at least low and less than high.
type Jitter func(low, high time.Duration) time.Duration

// Link is the one network that is spoken on, as this host stands on it: its addresses there with
// the lengths of their networks.
type Link []netip.Prefix

// Own says whether an address is this host's.
func (l Link) Own(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return slices.ContainsFunc(l, func(p netip.Prefix) bool { return p.Addr() == a })
}

// Near says whether an address is one of the link: what comes from elsewhere was routed here, and
// is nobody's who may speak (RFC 6762 11).
func (l Link) Near(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if a.IsLinkLocalUnicast() {
		return true
	}
	return slices.ContainsFunc(l, func(p netip.Prefix) bool { return p.Contains(a) })
}
