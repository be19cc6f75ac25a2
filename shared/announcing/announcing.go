// Package announcing derives from the plan and a host's links how the host reaches its routers,
// and how it announces the VIPs that it serves. The rules are the same for hosts of both phases.
package announcing

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/routed"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// Host is what a configuration depends on beside the plan.
type Host struct {
	Role role.Role
	Rack string // the name of its rack; empty if its name or addresses decide, see func Rack
	// Name is the host's own: a rack for one host alone may have the same name. It is empty on the
	// bootstrap machine, which is no host of the description.
	Name  string
	Links addr.Snapshot
	// Former is the BGP identifier of the configuration before, if there was one. It stays while
	// the host has the address that it was made of: another identifier would end all sessions.
	Former netip.Addr
}

// VIPs are those that a host of a role may ever announce, each once: all of them on a control plane
// node, those of the API and of DNS on the bootstrap machine, that of ingress on a worker.
func VIPs(p plan.Plan, r role.Role) []netip.Addr {
	var all []netip.Addr
	if r != role.Worker {
		all = slices.Concat(p.VIPs.API, p.VIPs.DNS)
	}
	if r != role.Bootstrap {
		all = slices.Concat(all, p.VIPs.Ingress)
	}
	slices.SortFunc(all, netip.Addr.Compare)
	return slices.Compact(all)
}

// Routes are the routes to VIPs, all with one grade.
func Routes(p plan.Plan, grade bgp.Grade, vips []netip.Addr) []spoken.Route {
	var all []spoken.Route
	for _, vip := range vips {
		all = append(all, spoken.Route{VIP: vip, Grade: grade,
			Demotions: p.BGP.Policy.Demotions(grade)})
	}
	return all
}

// Config is a host's configuration, and why it is this one. The plan must have BGP. The error has
// what the host or the description lacks, and what to do.
func Config(p plan.Plan, h Host) (c spoken.Config, why string, err error) {
	own := ownAddresses(h.Links, p.VIPs.All())
	rack, err := Rack(p, h)
	if err != nil {
		return spoken.Config{}, "", err
	}
	c = spoken.Config{ASN: p.BGP.ASN, Timing: rack.Model, VIPs: VIPs(p, h.Role),
		Communities: slices.Clone(p.BGP.Communities)}
	c.Links = linksOf(h.Links, c.VIPs)
	var lacks []string
	for _, peer := range rack.Peers {
		source, err := Source(peer, h.Links, p.VIPs.All())
		if err != nil {
			lacks = append(lacks, "; "+err.Error())
			continue
		}
		c.Peers = append(c.Peers, spoken.Peer{Address: peer.Address, Interface: peer.Interface,
			ASN: peer.ASN, Source: source, Hops: peer.Hops, TTLSecurity: peer.TTLSecurity})
	}
	from := "its routers"
	if len(rack.Peers) == 0 {
		c.Peers, from = Gateways(h.Links, c.VIPs), "the gateways of its default routes"
	}
	if lack := strings.Join(lacks, ""); len(c.Peers) == 0 && lack != "" {
		return spoken.Config{}, "", fmt.Errorf("rack %s%s", rack, lack)
	} else if len(c.Peers) == 0 {
		return spoken.Config{}, "", fmt.Errorf("rack %s names no peers in bgp.racks, and this "+
			"host has no default route whose gateway could be one: name them", rack)
	}
	var of netip.Addr
	if c.Router, of, err = identifier(rack, p.MachineNetworks, own, h.Former); err != nil {
		return spoken.Config{}, "", err
	}
	why = fmt.Sprintf("rack %s: %s %s; identifier %s, of the address %s", rack, from,
		names(c.Peers), c.Router, of) + strings.Join(lacks, "")
	for _, vip := range c.VIPs {
		if !carried(c.Peers, vip.Is6()) {
			why += fmt.Sprintf("; no session carries %s: name a router of its family in "+
				"bgp.racks", vip)
		}
	}
	return c, why, nil
}

// Source is the host's own address of its sessions with a router; the zero value leaves it to the
// kernel. The error is that the host has none in the network that is to have it. No VIP counts.
func Source(p routed.Peer, s addr.Snapshot, vips []netip.Addr) (netip.Addr, error) {
	if !p.Source.IsValid() || p.Source.IsSingleIP() {
		return p.Source.Addr(), nil
	}
	own := ownAddresses(s, vips)
	i := slices.IndexFunc(own, p.Source.Contains)
	if i < 0 {
		return netip.Addr{}, fmt.Errorf("no session with %s: give this host an address in %s, the "+
			"source in bgp.racks", p.Name(), p.Source)
	}
	return own[i], nil
}

// Rack is the rack of a host: the one that h.Rack names, else the one with the host's own name,
// else the one whose network has one of the host's own addresses. The plan must have BGP. The
// error has what is wrong, and what to do.
func Rack(p plan.Plan, h Host) (routed.Rack, error) {
	name := h.Rack
	if name == "" && p.BGP.Has(h.Name) {
		name = h.Name
	}
	return p.BGP.Find(name, ownAddresses(h.Links, p.VIPs.All()))
}

// linksOf are the links of a network in which a VIP is: other hosts may hold it there by VRRP, or
// without VRRP all that serve it have it, and a client would get the answers of them all.
func linksOf(s addr.Snapshot, vips []netip.Addr) (names []string) {
	for _, l := range s.Links {
		if slices.ContainsFunc(l.Addresses, func(a addr.Address) bool {
			return a.Prefix.Bits() < a.Prefix.Addr().BitLen() &&
				slices.ContainsFunc(vips, a.Prefix.Masked().Contains)
		}) {
			names = append(names, l.Name)
		}
	}
	return names
}

// ownAddresses are the addresses that identify the host, without VIPs, in an order that does not
// depend on the order of links: primary IPv4 ones, then IPv6 ones, then secondary IPv4 ones.
func ownAddresses(s addr.Snapshot, vips []netip.Addr) []netip.Addr {
	var first, second []netip.Addr
	for _, l := range s.Links {
		for _, a := range l.Addresses {
			is := a.Prefix.Addr()
			switch {
			case !addr.Usable(a) || slices.Contains(vips, is):
			case !a.Secondary:
				first = append(first, is)
			case is.Is4(): // one of IPv6 is temporary
				second = append(second, is)
			}
		}
	}
	slices.SortFunc(first, netip.Addr.Compare) // IPv4 first
	slices.SortFunc(second, netip.Addr.Compare)
	return append(first, second...)
}

// Gateways are the gateways of the default routes in use, as peers of a host whose rack names
// none. Each may have any AS number but the host's. A gateway with a link-local address is known
// by its interface alone, and its session carries both families.
func Gateways(s addr.Snapshot, vips []netip.Addr) (peers []spoken.Peer) {
	for _, six := range []bool{false, true} {
		wanted := slices.ContainsFunc(vips, func(v netip.Addr) bool { return v.Is6() == six })
		lacks := !carried(peers, false)
		for _, r := range defaults(s.Routes, six) {
			link := linkName(s.Links, r.LinkIndex)
			peer := spoken.Peer{Address: r.Gateway}
			if r.Gateway.IsLinkLocalUnicast() {
				peer = spoken.Peer{Interface: link}
			}
			needed := wanted || peer.Interface != "" && lacks
			if needed && (peer.Interface != "" || peer.Address.IsValid()) &&
				!slices.Contains(peers, peer) {
				peers = append(peers, peer)
			}
		}
	}
	return peers
}

// defaults are the default routes of a family with the lowest metric, sorted by gateway.
func defaults(routes []addr.Route, six bool) []addr.Route {
	var best []addr.Route
	for _, r := range routes {
		d := r.Destination
		if !d.IsValid() || d.Bits() != 0 || !r.Gateway.IsValid() || d.Addr().Is6() != six {
			continue
		}
		r.Gateway = r.Gateway.WithZone("")
		if len(best) > 0 && r.Metric < best[0].Metric {
			best = nil
		}
		if len(best) == 0 || r.Metric == best[0].Metric {
			best = append(best, r)
		}
	}
	slices.SortFunc(best, func(a, b addr.Route) int {
		if n := a.Gateway.Compare(b.Gateway); n != 0 {
			return n
		}
		return a.LinkIndex - b.LinkIndex
	})
	return best
}

func linkName(links []addr.Link, index int) string {
	for _, l := range links {
		if l.Index == index {
			return l.Name
		}
	}
	return ""
}

// carried reports whether one of the sessions carries routes of a family.
func carried(peers []spoken.Peer, six bool) bool {
	return slices.ContainsFunc(peers, func(p spoken.Peer) bool {
		return p.Interface != "" || p.Address.Is6() == six
	})
}

func names(peers []spoken.Peer) string {
	var all []string
	for _, p := range peers {
		name := routed.Peer{Address: p.Address, Interface: p.Interface}.Name()
		if p.ASN != 0 {
			name = fmt.Sprintf("%s (AS %d)", name, p.ASN)
		}
		all = append(all, name)
	}
	return strings.Join(all, ", ")
}
