// Package peer chooses the addresses by which nodes are members of the VRRP groups of VIPs.
package peer

import (
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/addr"
)

// PerFamily limits the addresses of one family by which a node without an InternalIP of that family
// is known. Each becomes a peer of every node, and the node's kubelet can annotate its own Node
// with as many as it wants.
const PerFamily = 4

// First is the address by which node is known in the election of vip, the first of All,
// and whether it has one.
func First(node addr.Candidate, vip netip.Addr, own netip.Addr, vips []netip.Addr,
	machine []netip.Prefix) (netip.Addr, bool) {
	if all := All(node, vip, own, vips, machine); len(all) > 0 {
		return all[0], true
	}
	return netip.Addr{}, false
}

// All are the addresses by which node may be a member of the VRRP group of vip. own is the local
// host's address, vips are all VIPs of the cluster, and machine its machine networks.
//
// If a machine network holds vip, the member is the node's last InternalIP of vip's family. A node
// without one is known by the annotated addresses in that network, PerFamily at most, because only
// the node knows which of them it sends from. If own is among these, it is the only member, so that
// a host always finds itself. If vip is in no machine network (behind a router, as vSphere allows),
// the member is the first InternalIP of the family. No member is a VIP.
func All(node addr.Candidate, vip netip.Addr, own netip.Addr, vips []netip.Addr,
	machine []netip.Prefix) []netip.Addr {
	fits := func(a netip.Addr) bool {
		return a.IsValid() && a.BitLen() == vip.BitLen() && a != vip && !slices.Contains(vips, a)
	}
	internal := slices.DeleteFunc(slices.Clone(node.InternalIPs),
		func(a netip.Addr) bool { return !fits(a) })
	networks := slices.DeleteFunc(slices.Clone(machine),
		func(p netip.Prefix) bool { return !p.Contains(vip) })
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
		if fits(a) &&
			slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(a) }) {
			all = append(all, a)
		}
	}
	return all
}
