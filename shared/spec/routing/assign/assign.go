// Package assign finds the racks of a cluster whose document lists networks of hosts, routers and
// virtual IPs, but not which of them belong together.
package assign

import (
	"net/netip"
	"slices"
)

// Racks are those of a cluster.
type Racks struct {
	// Networks are those of each rack: one of the first network's family, and one of the other
	// family if each rack has one.
	Networks [][]netip.Prefix
	// VIPs are networks in which virtual IPs alone are.
	VIPs []netip.Prefix
	// Unpaired are the networks of the other family that have routers and whose racks are
	// unknown: there are more networks of that family than racks, or fewer.
	Unpaired []netip.Prefix
}

// Of finds the racks. A network that has a virtual IP and no router, while another one of its
// family has one, has no hosts. Each other network of the first family is a rack, with the
// network at the same position in the other family.
func Of(networks []netip.Prefix, vips, routers []netip.Addr) (r Racks) {
	has := func(n netip.Prefix, all []netip.Addr) bool {
		return slices.ContainsFunc(all, n.Contains)
	}
	var first, other []netip.Prefix
	for _, n := range networks {
		like := func(m netip.Prefix) bool { return m.Addr().Is4() == n.Addr().Is4() }
		switch {
		case has(n, vips) && !has(n, routers) && slices.ContainsFunc(networks,
			func(m netip.Prefix) bool { return like(m) && has(m, routers) }):
			r.VIPs = append(r.VIPs, n)
		case like(networks[0]):
			first = append(first, n)
		default:
			other = append(other, n)
		}
	}
	paired := len(first) == len(other)
	for i, n := range first {
		r.Networks = append(r.Networks, []netip.Prefix{n})
		if paired {
			r.Networks[i] = append(r.Networks[i], other[i])
		}
	}
	if !paired {
		r.Unpaired = slices.DeleteFunc(other, func(n netip.Prefix) bool { return !has(n, routers) })
	}
	return r
}

// Near are the indices of a rack's routers: those in its networks and those in no rack's network,
// or all if there are none of these.
func (r Racks) Near(rack int, routers []netip.Addr) (near []int) {
	var all []int
	for i, a := range routers {
		at := slices.IndexFunc(r.Networks, func(of []netip.Prefix) bool {
			return slices.ContainsFunc(of, func(n netip.Prefix) bool { return n.Contains(a) })
		})
		if all = append(all, i); at < 0 || at == rack {
			near = append(near, i)
		}
	}
	if len(near) == 0 {
		return all
	}
	return near
}
