// Package frr has the configuration of FRR's daemons on a host that announces VIPs: its model, its
// text, the commands that lead from one to another while sessions last, and what the daemons
// report.
//
// Nothing of it is a file that FRR reads: the commands go to the daemons' sockets one by one, each
// with an answer of its own, and what the daemons then have is read back. A file would be read with
// its mistakes left out, and replaying one resets sessions.
package frr

import (
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/secret"
)

// Daemon is one of FRR's programs.
type Daemon string

// The daemons.
const (
	Zebra Daemon = "zebra" // interfaces and routes; the other daemons communicate through it
	BFD   Daemon = "bfdd"
	BGP   Daemon = "bgpd"
)

// Daemons are all of them, in the order in which they start: sessions that bgpd has before the
// others listen are without BFD for ever.
func Daemons() []Daemon { return []Daemon{Zebra, BFD, BGP} }

// Config is the wanted configuration of a host's daemons. Peers and VIPs have an order, and each
// is there once.
type Config struct {
	ASN    bgp.ASN
	Router netip.Addr // the host's identifier: an IPv4 address of its own
	Timing bgp.Timing
	// VIPs are those that the host may ever announce; nothing else leaves it, and nothing else is
	// taken from routers. Announced are those that it announces now, with their grades.
	VIPs        []netip.Addr
	Announced   map[netip.Addr]bgp.Grade
	Communities []string // of each route, by their numbers: 64512:100
	Peers       []Peer
}

// Peer is a router with which the host has a session.
type Peer struct {
	Address   netip.Addr // of the router; or
	Interface string     // with the router as its only one, unnumbered (RFC 5549)
	ASN       bgp.ASN    // 0 for whichever the router has, unless it is the host's own
	Password  secret.Text
	Source    netip.Addr // of the host's own end; the zero value leaves it to the kernel
	// Hops is how many routers are between, plus one; 0 and 1 for none. TTLSecurity has packets
	// dropped that come from further away (RFC 5082); the router must do the same.
	Hops        int
	TTLSecurity bool
}

// Name is how FRR names the session.
func (p Peer) Name() string {
	if p.Interface != "" {
		return p.Interface
	}
	return p.Address.String()
}

// Carries reports whether a session carries routes of a family: its own, and both where it has no
// address.
func (p Peer) Carries(six bool) bool { return p.Interface != "" || p.Address.Is6() == six }
