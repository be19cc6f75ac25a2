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

// Groups are the multicast groups of multicast DNS. Neither leaves its link.
func Groups() (v4, v6 netip.Addr) {
	return netip.AddrFrom4([4]byte{224, 0, 0, 251}),
		netip.AddrFrom16([16]byte{0: 0xff, 1: 2, 15: 0xfb})
}

// Packet is a received packet.
type Packet struct {
	From      netip.AddrPort
	Multicast bool // it was sent to the group
	Data      []byte
}

// Outgoing is a packet to send.
type Outgoing struct {
	To   netip.AddrPort // the zero value: the groups of all families with a socket
	Data []byte
}

// Jitter returns a random wait, at least low and less than high.
type Jitter func(low, high time.Duration) time.Duration

// Sooner is the earlier of two times; a zero one does not count.
func Sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// Link is the network of an interface: this host's addresses there, with their prefix lengths.
type Link []netip.Prefix

// Own reports whether an address is this host's.
func (l Link) Own(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return slices.ContainsFunc(l, func(p netip.Prefix) bool { return p.Addr() == a })
}

// Near reports whether an address is on the link. Packets from other addresses were routed here and
// are ignored (RFC 6762 11).
func (l Link) Near(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if a.IsLinkLocalUnicast() {
		return true
	}
	return slices.ContainsFunc(l, func(p netip.Prefix) bool { return p.Contains(a) })
}
