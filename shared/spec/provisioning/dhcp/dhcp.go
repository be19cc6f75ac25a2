// Package dhcp checks what a DHCP server of ours is to answer against the rules of its network.
package dhcp

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/grammar"
	"github.com/onprem-infra/onprem-infra/shared/subnet"
)

// Server is a DHCP server's settings with their places.
type Server struct {
	Unknown     document.Scalar[string]
	Range       document.Scalar[string]
	First, Last netip.Addr // of Range, if they could be read
	Gateway     document.Scalar[netip.Addr]
	Lease       document.Scalar[time.Duration]
	DNS         []document.Scalar[netip.Addr]
	NTP         []document.Scalar[string]
}

// Around is what the rules depend on.
type Around struct {
	CIDR    netip.Prefix // not valid if it could not be read
	At      document.Place
	Servers []Taken // of the bootstrap machine and the cluster
	Hosts   int
	// Factor is how many addresses there are for each host.
	Factor int
	// Installer is whether the installer assumes a range if none is written.
	Installer bool
}

// Taken is an address on the provisioning network that no host gets.
type Taken struct {
	netip.Addr
	Whose string
}

// Check holds the gateway and the range to the rules, and reads the range.
func (s *Server) Check(r *document.Report, a Around) {
	if s.Gateway.OK && a.CIDR.IsValid() {
		s.checkGateway(r, a)
	}
	if !s.Range.Given {
		s.checkRoom(r, a)
		return
	}
	if !s.Range.OK {
		return
	}
	at := s.Range.At
	first, last, why := grammar.Range(s.Range.Value)
	fits := s.fits(a)
	switch {
	case why != "":
		r.Refuse(s.Range, why+fits)
		return
	case !a.CIDR.IsValid():
		return
	case !a.CIDR.Contains(first) || !a.CIDR.Contains(last):
		r.Errorf(at, "%s to %s is not within the provisioning network %s%s", first, last, a.CIDR,
			fits)
	case last.Less(first):
		r.Errorf(at, "begins behind its end%s", fits)
	case first == a.CIDR.Addr() || last == subnet.Last(a.CIDR) && last.Is4():
		r.Errorf(at, "contains an address that no host may have%s", fits)
	default:
		for _, taken := range s.reserved(a) {
			if first.Compare(taken.Addr) <= 0 && taken.Addr.Compare(last) <= 0 {
				r.Errorf(at, "contains %s, which is the address of %s%s", taken.Addr, taken.Whose,
					fits)
				return
			}
		}
		s.First, s.Last = first, last
		s.checkRoom(r, a)
	}
}

// reserved are the addresses that the range may not have.
func (s *Server) reserved(a Around) []Taken {
	all := append([]Taken{}, a.Servers...)
	if s.Gateway.OK {
		all = append(all, Taken{s.Gateway.Value, "the gateway"})
	}
	for _, d := range s.DNS {
		if d.OK {
			all = append(all, Taken{d.Value, "a name server"})
		}
	}
	return all
}

// free is the largest part of the default range without reserved addresses.
func (s *Server) free(a Around) (first, last netip.Addr) {
	var without []netip.Addr
	for _, t := range s.reserved(a) {
		without = append(without, t.Addr)
	}
	return subnet.Free(a.CIDR, without)
}

// fits is the remedy of a range: one that has room for all hosts, if the network has one.
func (s *Server) fits(a Around) string {
	first, last := s.free(a)
	switch {
	case !a.CIDR.IsValid():
		return ": write the first and the last one, such as 172.22.0.10,172.22.0.100"
	case !first.IsValid() || subnet.PlacesOf(first, last).Count < a.Hosts*a.Factor:
		return ": write a larger network"
	}
	return fmt.Sprintf(": write %s,%s", first, last)
}

// checkRoom holds that a range has a place for each host, and more where others get addresses.
func (s *Server) checkRoom(r *document.Report, a Around) {
	first, last, at := s.First, s.Last, s.Range.At
	if !a.CIDR.IsValid() {
		return
	}
	if !s.Range.Given {
		first, last = s.free(a)
		at = a.At
		whole, end := subnet.Range(a.CIDR)
		if a.Installer && (first != whole || last != end) {
			r.Errorf(s.Range.At, "is missing, and an address is within the range that the "+
				"installer takes, %s,%s: write %s,%s", whole, end, first, last)
		}
	}
	want, what := a.Hosts*a.Factor, "addresses"
	if a.CIDR.Addr().Is6() {
		what = fmt.Sprintf("blocks of /%d", subnet.BlockBits)
	}
	if size := subnet.PlacesOf(first, last).Count; size < want {
		r.Errorf(at, "has %d %s for hosts, and %d are needed%s", size, what, want, s.fits(a))
	}
}

// checkGateway checks a gateway against the network. DHCPv6 has no option for one (RFC 8415,
// section 21).
func (s *Server) checkGateway(r *document.Report, a Around) {
	g := s.Gateway
	if !a.CIDR.Contains(g.Value) || g.Value == a.CIDR.Addr() || g.Value == subnet.Last(a.CIDR) {
		r.Errorf(g.At, "%s is no host's address in the provisioning network %s: choose one in it",
			g.Value, a.CIDR)
		return
	}
	for _, t := range a.Servers {
		if t.Addr == g.Value {
			r.Errorf(g.At, "%s is the address of the bootstrap machine or the cluster: choose "+
				"the router's", g.Value)
			return
		}
	}
	if g.Value.Is6() {
		r.Warnf(g.At, "has no effect, as hosts learn routers of IPv6 from their advertisements: "+
			"remove it, and have the router advertise itself if hosts need one")
	}
}
