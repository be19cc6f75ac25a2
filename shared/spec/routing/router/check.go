package router

import (
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/network"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/grammar"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing/number"
)

// Rack is what the rules of a router depend on.
type Rack struct {
	Hosts         document.Scalar[bgp.ASN]
	Network       document.Scalar[netip.Prefix]
	VIPs          []netip.Addr
	InstallConfig bool // the document is one, with its own spelling
}

// Same reports whether two routers are one.
func (d Draft) Same(other Draft) bool {
	return d.Address.OK && d.Address.Value == other.Address.Value ||
		d.Link.OK && d.Link.Value == other.Link.Value
}

// vip is what is wrong with an address that no router and no host has for itself.
const vip = "%s is a virtual IP, which is on whichever host serves it: write %s"

// Check holds a router to its own rules.
func (d Draft) Check(r *document.Report, of Rack) {
	switch {
	case d.Address.Given == d.Link.Given:
		r.Errorf(d.At, "is known by its address or by the host's interface: write one of the two")
	case d.Link.OK:
		r.Refuse(d.Link, grammar.NoLink(d.Link.Value))
	}
	switch {
	case !d.ASN.Given:
		r.Errorf(d.At, "has no asn: write the router's number, or asn: external for any but the "+
			"hosts' own")
	case d.Number != 0 && of.Hosts.OK && d.Number == of.Hosts.Value:
		r.Errorf(d.ASN.At, "is the hosts' own number: routers of it would keep the VIPs to "+
			"themselves (iBGP); give the hosts another one")
	case number.Doubt(d.Number) != "":
		r.Warnf(d.ASN.At, "%d %s", d.Number, number.Doubt(d.Number))
	}
	if h := d.Hops; h.OK && (h.Value < 1 || h.Value > 254) {
		r.Errorf(h.At, "%d is no distance: write 1 for a router on the host's own network",
			h.Value)
	}
	if d.Link.Given && d.Hops.Value > 1 {
		r.Errorf(d.Hops.At, "a router at the other end of an interface is 1 away: remove it, or "+
			"write its address")
	}
	if a := d.Address; a.OK && of.Network.OK && d.Hops.Value < 2 &&
		a.Value.Is4() == of.Network.Value.Addr().Is4() && !of.Network.Value.Contains(a.Value) {
		far := "hops: 2"
		if of.InstallConfig {
			far = "peerReachability: MultiHop (formerly ebgpMultiHop: true)"
		}
		r.Errorf(a.At, "%s is not in the network of its rack, %s, so that packets for it leave "+
			"by a router: write %s if that is so", a.Value, of.Network.Value, far)
	}
	if a := d.Address; a.OK && slices.Contains(of.VIPs, a.Value) {
		r.Errorf(a.At, vip, a.Value, "a router's address")
	}
	if a := d.Address; a.OK && of.Network.OK {
		if what := network.Unusable(a.Value, of.Network.Value); what != "" {
			r.Warnf(a.At, "%s is %s, which no router of one link has: choose another address, "+
				"unless that is the network of several links", a.Value, what)
		}
	}
	if d.Link.Given && d.TTL.Value {
		r.Errorf(d.TTL.At, "has no effect with an interface, as no router passes packets with "+
			"link-local addresses on: remove it, or write the router's address")
	}
	d.checkSource(r, of)
}

// checkSource holds the host's end to its rules: each host of the rack has an address for it.
func (d Draft) checkSource(r *document.Report, of Rack) {
	switch s := d.Source; {
	case s.Given && d.Link.Given:
		r.Errorf(s.At, "has no effect with an interface, whose link-local address is the source: "+
			"remove it, or write the router's address")
	case s.OK && d.Address.OK && s.Value.Addr().Is4() != d.Address.Value.Is4():
		r.Errorf(s.At, "%s is of another family than the router's address %s", s.Value,
			d.Address.Value)
	case !s.OK || !s.Value.IsSingleIP():
	case slices.Contains(of.VIPs, s.Value.Addr()):
		r.Errorf(s.At, vip, s.Value, "one of the host's own addresses")
	case s.Value.Addr() == d.Address.Value:
		r.Errorf(s.At, "is the router's own address: write one that the host has")
	case of.Network.OK && of.Network.Value.Addr().BitLen()-of.Network.Value.Bits() > 2:
		// A smaller one is the network of one host and its router.
		r.Warnf(s.At, "%s is the address of one host, and the others of the rack get no session: "+
			"write a network in which each has one for it, such as 10.9.0.0/24", s.Value)
	}
}
