package addr

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
)

// Choice is the interface that a VIP belongs on and this host's own address there.
type Choice struct {
	Link    string
	Address netip.Addr
	OnLink  bool   // the VIP is in a network of that interface: its holder answers there without a router between
	Why     string // for a log: the fact that decided
}

// ForVIP chooses the interface for vip and the host's own address on it, of vip's family and never
// one of the VIPs in all. agreed are the addresses that the node's other programs agreed on, one a
// family; the one of vip's family wins if the host has it. Else the network that holds vip decides,
// and else the default route. Equal snapshots give equal choices, whatever the order of what they
// list. The error says that no address qualifies.
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
	if c, route, ok := byDefaultRoute(s.Routes, own); ok {
		return c.choice(false, fmt.Sprintf("the VIP is in no local network, and the default route has metric %d there", route.Metric)), nil
	}
	return Choice{}, fmt.Errorf("choose an interface for %s: no usable %s address in its network, nor on an interface with a default route", vip, family(vip))
}

// family goes by the width: an IPv4-mapped IPv6 address is configured, routed and announced as
// IPv6, whatever it looks like in print.
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
	return Choice{Link: c.Name, Address: c.Prefix.Addr(), OnLink: onLink, Why: fmt.Sprintf("%s of %s: %s", c.Prefix, c.Name, why)}
}

// candidates are the addresses of the VIP's family that could be this host's own, in the order in
// which they are considered: links that are up first, then by index.
func candidates(s Snapshot, vip netip.Addr, all []netip.Addr) []candidate {
	var out []candidate
	for _, l := range s.Links {
		for _, a := range l.Addresses {
			own := a.Prefix.Addr()
			if own.BitLen() == vip.BitLen() && own != vip && !slices.Contains(all, own) && usable(a) {
				out = append(out, candidate{l, a})
			}
		}
	}
	slices.SortFunc(out, func(a, b candidate) int {
		return cmp.Or(first(a.Up, b.Up), cmp.Compare(a.Index, b.Index), first(!a.Secondary, !b.Secondary), byBytes(a, b))
	})
	return out
}

// network says by which network of the address the VIP is on its link. A DHCPv6 address stands
// alone (/128): its network is the one that a router announced on that link, not a guessed /64,
// which can cover another link's network too.
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

// first orders true before false.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}

func byBytes(a, b candidate) int {
	return cmp.Or(a.Prefix.Addr().Compare(b.Prefix.Addr()), cmp.Compare(a.Prefix.Bits(), b.Prefix.Bits()))
}
