package addr

import (
	"fmt"
	"net/netip"
	"slices"
)

// Choice is the interface that a VIP belongs on and this host's own address there.
type Choice struct {
	Link    string
	Address netip.Addr
	OnLink  bool   // the VIP is in a network of that interface, with no router between
	Why     string // for a log: the fact that decided
}

// ForVIP chooses the interface for vip and the host's own address on it, of vip's family and never
// one of the VIPs in all. agreed are the addresses that the node's other programs agreed on, one a
// family; the one of vip's family wins if the host has it. Else the network that holds vip decides,
// and else the default route. The order of links, addresses and routes in the snapshot does not
// matter. ForVIP fails if no address qualifies.
func ForVIP(s Snapshot, vip netip.Addr, all, agreed []netip.Addr) (Choice, error) {
	if !vip.IsValid() {
		return Choice{}, fmt.Errorf("choose an interface: the VIP is not an address")
	}
	own := candidates(s, vip, all)
	for _, c := range own {
		if slices.Contains(agreed, c.Prefix.Addr()) {
			_, onLink := c.network(s.Routes, vip)
			return c.choice(onLink, "it is the node's agreed address"), nil
		}
	}
	for _, c := range own {
		if network, ok := c.network(s.Routes, vip); ok {
			return c.choice(true, fmt.Sprintf("the VIP is in its network %s", network)), nil
		}
	}
	if n, ok := byDefaultRoute(s.Routes, own); ok {
		const why = "the VIP is in no local network, and the default route has metric %d there"
		return n.choice(false, fmt.Sprintf(why, n.metric)), nil
	}
	return Choice{}, fmt.Errorf("choose an interface for %s: no usable %s address in its network, "+
		"nor on an interface with a default route", vip, family(vip))
}

// family is decided by the width: an IPv4-mapped IPv6 address is configured, routed and announced
// as IPv6.
func family(a netip.Addr) string {
	if a.BitLen() == 32 {
		return "IPv4"
	}
	return "IPv6"
}

// candidate is a usable address of one link.
type candidate struct {
	Link
	Address
}

func (c candidate) choice(onLink bool, why string) Choice {
	why = fmt.Sprintf("%s of %s: %s", c.Prefix, c.Name, why)
	return Choice{Link: c.Name, Address: c.Prefix.Addr(), OnLink: onLink, Why: why}
}

// candidates are the addresses of the VIP's family that could be this host's own, in the order in
// which they are considered: links that are up first, then by index.
func candidates(s Snapshot, vip netip.Addr, all []netip.Addr) []candidate {
	return sorted(s, order{isUp(), byIndex(), lasts(false), isLowest()}, func(a Address) bool {
		own := a.Prefix.Addr()
		return own.BitLen() == vip.BitLen() && own != vip && !slices.Contains(all, own) && Usable(a)
	})
}

// sorted are the addresses of all links that pass, in an order.
func sorted(s Snapshot, o order, passes func(Address) bool) (all []candidate) {
	for _, l := range s.Links {
		for _, a := range l.Addresses {
			if passes(a) {
				all = append(all, candidate{l, a})
			}
		}
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return o.compare(nominee{candidate: a}, nominee{candidate: b})
	})
	return all
}

// network is the on-link network of the address, and whether it has the VIP. A DHCPv6 address has
// the prefix length 128. Its network is one with the VIP that a router announced on that link: a
// guessed /64 can cover another link's network too.
func (c candidate) network(routes []Route, vip netip.Addr) (netip.Prefix, bool) {
	if c.Prefix.Bits() < 128 {
		return c.Prefix.Masked(), c.Prefix.Contains(vip)
	}
	var found netip.Prefix
	for _, r := range routes {
		d := r.Destination
		onLink := r.LinkIndex == c.Index && r.FromRA && !r.Gateway.IsValid() && d.Bits() > 0
		if onLink && d.Contains(c.Prefix.Addr()) && d.Contains(vip) && d.Bits() > found.Bits() {
			found = d.Masked()
		}
	}
	return found, found.IsValid()
}
