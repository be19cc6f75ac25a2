package addr

import (
	"fmt"
	"net/netip"
	"slices"
)

// Wish is what the addresses of a node must suit.
type Wish struct {
	// Hints are addresses in the network that an operator wants the node to be known in, or the
	// node's own one there. No host needs to have them. They win over VIPs: they are explicit.
	Hints []netip.Addr
	// VIPs are the cluster's. The node is known in their network where it has one, and never by one
	// of them.
	VIPs []netip.Addr
	// PreferIPv6 puts IPv6 first where the node has both families.
	PreferIPv6 bool
	// Lowest makes the lower one of two IPv4 addresses in one network the node's, as OpenShift's
	// own program does. Otherwise it is the interface's primary one, which does not change when an
	// address is added.
	Lowest bool
	// OVN means that the network plugin is OVN-Kubernetes, which puts an address of its own on the
	// bridge of every node.
	OVN bool
}

// NodeAddresses are the addresses that a node is known by.
type NodeAddresses struct {
	Addresses []netip.Addr // at most one of each family; the first is the node's primary one
	VIPLocal  bool         // the node could hold a VIP: it has an address in the VIP's network
	Why       string       // for a log: the rule that decided
	Rulings   []Ruling     // one for each address of the host, in the order of consideration
}

// Ruling is what became of one address, and by which rule.
type Ruling struct {
	Link    string
	Prefix  netip.Prefix
	Verdict Verdict
	Why     string
}

// Verdict is what became of an address.
type Verdict string

// The verdicts.
const (
	Chosen     Verdict = "chosen"
	PassedOver Verdict = "passed over" // it could have been chosen, had there been no better one
	Dropped    Verdict = "dropped"     // no node is known by such an address
)

// ForNode chooses the addresses that a node is known by. The interface is the first one, by link
// index, with an address in the network of a hint; else in the network of a VIP; else the best of
// those with a default route. ForNode fails if no address qualifies, and returns the rulings also
// then. The order of links, addresses and routes in the snapshot does not matter. A tentative
// address counts, so that the choice does not depend on the moment: the caller waits until the
// address can be bound.
func ForNode(s Snapshot, w Wish) (NodeAddresses, error) {
	f := newField(s, w)
	out := NodeAddresses{}
	for _, n := range f.fit {
		_, _, hit := n.hit(f.routes, w.VIPs)
		out.VIPLocal = out.VIPLocal || hit
	}
	chosen, losers := f.byNetwork(w.Hints, "hint")
	if len(chosen) == 0 {
		chosen, losers = f.byNetwork(w.VIPs, "VIP")
	}
	if len(chosen) == 0 {
		chosen, losers = f.byRoute()
	}
	for _, n := range chosen {
		out.Addresses = append(out.Addresses, n.Prefix.Addr())
	}
	out.Rulings = slices.Concat(rulings(chosen, Chosen), rulings(losers, PassedOver), f.dropped)
	if len(chosen) == 0 {
		return out, fmt.Errorf("choose the node's address: %s", f.nothing(w))
	}
	out.Why = fmt.Sprintf("%s of %s: %s", chosen[0].Prefix, chosen[0].Name, chosen[0].why)
	return out, nil
}

// nominee is an address that a node can be known by.
type nominee struct {
	candidate
	why string // of what became of it

	// In a choice by network: whether it is a wanted address itself, or has one in its network.
	exact, wanted bool
	// In a choice by default route: the one of its interface, and the router of its own family.
	metric int
	router netip.Addr
}

func (n nominee) ruled(why string) nominee {
	n.why = why
	return n
}

// hit is the first of the addresses that is in a network of the nominee, and that network.
func (n nominee) hit(routes []Route, addresses []netip.Addr) (network netip.Prefix, hit netip.Addr,
	ok bool) {
	for _, a := range addresses {
		if network, ok := n.network(routes, a); ok {
			return network, a, true
		}
	}
	return netip.Prefix{}, netip.Addr{}, false
}

// field is everything that a choice is made from.
type field struct {
	routes  []Route
	prefer6 bool
	lasts   rule      // of addresses that come and go
	fit     []nominee // in the order in which they are considered
	dropped []Ruling
}

func newField(s Snapshot, w Wish) field {
	f := field{routes: s.Routes, prefer6: w.PreferIPv6, lasts: lasts(w.Lowest)}
	all := sorted(s, order{isUp(), byIndex(), f.lasts, isReal(), isLowest()},
		func(Address) bool { return true })
	for _, c := range all {
		if why := unfitForNode(c.Address, w); why != "" {
			f.dropped = append(f.dropped, Ruling{Link: c.Name, Prefix: c.Prefix, Verdict: Dropped,
				Why: why})
			continue
		}
		f.fit = append(f.fit, nominee{candidate: c})
	}
	return f
}

// unfitForNode is why this node can never be known by an address; empty if it can.
func unfitForNode(a Address, w Wish) string {
	own := a.Prefix.Addr()
	isVIP := func(vip netip.Addr) bool { return own.Unmap() == vip.Unmap() }
	switch {
	case unfit(a) != "":
		return unfit(a)
	case slices.ContainsFunc(w.VIPs, isVIP):
		return "it is a VIP, which moves between nodes"
	case a.Label == vipLabel:
		return fmt.Sprintf("its label %s is keepalived's: it is a VIP, which moves between nodes",
			vipLabel)
	case own == ovnMasquerade && w.OVN:
		return "it is on the bridge of every node (OVN-Kubernetes)"
	}
	return ""
}

// vipLabel is what keepalived writes on the IPv4 VIPs that it adds, ours and OpenShift's.
const vipLabel = "vip"

func (f field) nothing(w Wish) string {
	if len(f.fit) == 0 {
		return "the host has no address that a node can be known by"
	}
	if len(w.Hints)+len(w.VIPs) == 0 {
		return "no usable address is on an interface with a default route"
	}
	return "no usable address is in the network of a hint or a VIP, nor on an interface with a " +
		"default route"
}

func rulings(list []nominee, verdict Verdict) []Ruling {
	var out []Ruling
	for _, n := range list {
		why := n.why
		if n.Tentative {
			why += "; it is tentative yet"
		}
		out = append(out, Ruling{Link: n.Name, Prefix: n.Prefix, Verdict: verdict, Why: why})
	}
	return out
}
