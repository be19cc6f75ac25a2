package routed

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
)

// node is one of the control plane, and the rack in which it is.
type node struct {
	facts.Member
	rack string
}

// nodes are those that may announce VIPs; none if the rack of one is not known.
func nodes(f facts.Facts) (all []node) {
	if f.Plan.BGP == nil {
		return nil
	}
	for _, m := range f.Network.Members {
		if !m.MayAnnounce() {
			continue
		}
		if m.Self && f.Routed != nil && f.Routed.Rack != "" {
			all = append(all, node{m, f.Routed.Rack})
			continue
		}
		r, err := f.Plan.BGP.Find(m.Rack, m.Addresses)
		if err != nil {
			return nil
		}
		all = append(all, node{m, r.String()})
	}
	return all
}

// serve leaves out nodes that do not work: they announce nothing.
func serve(f facts.Facts, all []node) []node {
	return without(all, func(n node) bool {
		fails := func(s facts.Server) bool {
			return !s.Ready && slices.Contains(n.Addresses, s.Address.Addr())
		}
		return !n.Down.IsZero() || slices.ContainsFunc(f.Daemons.Servers, fails)
	})
}

// without leaves nodes out.
func without(all []node, which func(node) bool) []node {
	return slices.DeleteFunc(slices.Clone(all), which)
}

func names(all []node) string {
	var out []string
	for _, n := range all {
		out = append(out, n.Name)
	}
	return strings.Join(out, ", ")
}

// Width finds control plane nodes to which routers send no connection, where they are to spread
// connections over all: they use fewer ways than there are, or refuse some.
func Width(f facts.Facts) (out facts.Faults) {
	if f.Routed == nil || f.Plan.BGP == nil || !f.Plan.BGP.Spreads() {
		return nil
	}
	near := nearest(f, serve(f, nodes(f)))
	for _, s := range f.Routed.Spreads {
		var seen []string
		answered := map[string]bool{}
		for _, h := range s.Hosts {
			name := nameOf(f, h)
			answered[name] = true
			seen = append(seen, fmt.Sprintf("%s (%d)", name, h.Times))
		}
		idle := without(near, func(n node) bool { return answered[n.Name] })
		if s.Unsure(facts.ControlPlane(f.Network.Members)) {
			continue // it is reported as unseen
		}
		if len(near) < 2 || len(s.Hosts) == 0 || answered[""] || len(idle) == 0 {
			continue
		}
		out.Add(fmt.Sprintf("the api VIP %s", s.VIP), fmt.Sprintf("of %d connections from here "+
			"none came to %s, and %d nodes are to share them: %s answered", s.Asked-s.Failed,
			names(idle), len(near), strings.Join(seen, ", ")), widen(s.VIP, idle, len(near)))
	}
	return out
}

// widen is what to do for nodes without connections, of so many that are to have some.
func widen(vip netip.Addr, idle []node, of int) string {
	return fmt.Sprintf("run status on %s: if it announces the VIP, ask the routers on the way for "+
		"their routes to %s. One without its path: a filter refuses that, there or on the router "+
		"below (`onprem-infra routers` prints what they have to pass on). One that has several "+
		"and uses one: raise its maximum-paths to %d at least, also for paths through different "+
		"systems (bestpath as-path multipath-relax). One that uses all: have it hash by ports "+
		"too, and by another secret than the routers above it", names(idle), vip, of)
}

// nearest are the nodes to which routers send connections of this host: those of its rack, or if
// that has none all, where one level of routers joins the racks.
func nearest(f facts.Facts, all []node) []node {
	here := without(all, func(n node) bool { return n.rack != f.Routed.Rack })
	switch {
	case f.Routed.Rack == "":
		return nil
	case len(here) > 0:
		return here
	case f.Plan.BGP.FabricDepth == 1:
		return all
	}
	return nil // those that are nearer are not known
}

// nameOf is the control plane node that a host is; empty if it is none.
func nameOf(f facts.Facts, h facts.Answerer) string {
	for _, m := range f.Network.Members {
		is := func(name string) bool {
			a, err := netip.ParseAddr(name)
			return name == m.Name || err == nil && slices.Contains(m.Addresses, a)
		}
		if m.ControlPlane && slices.ContainsFunc(h.Names, is) {
			return m.Name
		}
	}
	return ""
}

// Racks finds racks whose nodes get other shares than those of others.
func Racks(f facts.Facts) (out facts.Faults) {
	if f.Routed == nil || !f.Live || f.Plan.BGP == nil {
		return nil
	}
	count, all := map[string]int{}, nodes(f)
	for _, n := range all {
		count[n.rack]++
	}
	for _, vip := range f.Plan.VIPs.API {
		shares := f.Plan.BGP.Shares(vip.Is6(), count)
		var texts []string
		unequal := false
		for _, s := range shares {
			in := without(all, func(n node) bool { return n.rack != s.Rack.String() })
			texts = append(texts, fmt.Sprintf("%.0f %% each in rack %s (%s)", s.Percent, s.Rack,
				names(in)))
			unequal = unequal || s.Percent != shares[0].Percent
		}
		if unequal {
			out.Add(fmt.Sprintf("the nodes that announce the api VIP %s", vip), "of connections "+
				"from outside of their racks they get different shares: "+strings.Join(texts, ", "),
				"have racks with the same number of control plane nodes and of routers, or see "+
					"that the nodes with the greatest share bear it; the balancers pass "+
					"connections on to all API servers alike")
		}
	}
	return out
}
