package vrrp

import "net/netip"

// Router is one router that announces itself for a VIP.
type Router struct {
	Priority Priority   // 0: no candidate
	Address  netip.Addr // the primary address that its advertisements come from
}

// Winner is the node that holds the VIP once all receive each other's adverts: the highest
// priority, among equals the higher address (RFC 5798 6.4.3). It is false without a candidate, and
// for nodes of both families: an IPv4 and an IPv6 router of one ID are two virtual routers.
func Winner(nodes []Router) (int, bool) {
	best := -1
	for i, n := range nodes {
		if n.Priority == 0 {
			continue
		}
		switch {
		case best < 0:
			best = i
		case n.Address.Is4() != nodes[best].Address.Is4():
			return 0, false
		case n.Outranks(nodes[best]):
			best = i
		}
	}
	return max(best, 0), best >= 0
}

// Elects reports whether control plane nodes, of which so many are known, elect a holder among
// themselves. A single node does so only in a small control plane, which may have one node for some
// time or for ever. In a larger one, a list of one node is incomplete.
func Elects(known int, small bool) bool { return known > 1 || known == 1 && small }

// Outranks reports whether a router wins against another one that receives its adverts.
func (n Router) Outranks(other Router) bool {
	if n.Priority != other.Priority {
		return n.Priority > other.Priority
	}
	return n.Address.Compare(other.Address) > 0
}
