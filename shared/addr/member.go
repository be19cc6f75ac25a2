package addr

import (
	"net/netip"
	"slices"
)

// Node is what a cluster's API says of one node's addresses, in its order.
type Node struct {
	Name        string
	InternalIPs []netip.Addr // status.addresses of type InternalIP; may lack a family while the node joins
	Annotated   []netip.Addr // all that the network plugin saw on the host, VIPs too
}

// PerFamily is the largest number of addresses of one family by which a node is known that has no
// InternalIP of it. What the network plugin saw stands on the node's own Node, where the node's
// kubelet can write as many as it wants, and each becomes a peer of every node.
const PerFamily = 4

// Member is the address by which node is known in the election of vip, the first of its Members,
// and whether it has one.
func Member(node Node, vip netip.Addr, own netip.Addr, vips []netip.Addr, machine []netip.Prefix) (netip.Addr, bool) {
	if all := Members(node, vip, own, vips, machine); len(all) > 0 {
		return all[0], true
	}
	return netip.Addr{}, false
}

// Members are the addresses by which node may take part in the election of vip. own is the asking
// machine's own address, vips are all VIPs of the cluster, and machine its machine networks. When
// one of them holds vip, a node is known by its last InternalIP of vip's family, and without one by
// all that its network plugin saw in that network, as nobody else knows which of those it speaks
// from; but by own alone when that is among them, so that a machine always finds itself, and by
// PerFamily of them at most. When vip is in no machine network (behind a router, as vSphere
// allows), it is the first InternalIP of the family. No address is a VIP.
func Members(node Node, vip netip.Addr, own netip.Addr, vips []netip.Addr, machine []netip.Prefix) []netip.Addr {
	fits := func(a netip.Addr) bool {
		return a.IsValid() && a.BitLen() == vip.BitLen() && a != vip && !slices.Contains(vips, a)
	}
	internal := slices.DeleteFunc(slices.Clone(node.InternalIPs), func(a netip.Addr) bool { return !fits(a) })
	networks := slices.DeleteFunc(slices.Clone(machine), func(p netip.Prefix) bool { return !p.Contains(vip) })
	switch {
	case len(internal) > 0 && len(networks) > 0:
		return internal[len(internal)-1:]
	case len(internal) > 0:
		return internal[:1]
	case len(networks) == 0:
		return nil
	}
	if fits(own) && slices.Contains(node.Annotated, own) {
		return []netip.Addr{own}
	}
	var all []netip.Addr
	for _, a := range node.Annotated {
		if len(all) == PerFamily {
			break
		}
		if fits(a) && slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(a) }) {
			all = append(all, a)
		}
	}
	return all
}

// Equal says whether two nodes have the same name and addresses.
func (n Node) Equal(m Node) bool {
	return n.Name == m.Name && slices.Equal(n.InternalIPs, m.InternalIPs) && slices.Equal(n.Annotated, m.Annotated)
}
