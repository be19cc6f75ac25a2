package addr

import "fmt"

// byRoute chooses an address of each family on interfaces that have a default route. The node's
// primary address is the first one in the order.
func (f field) byRoute() (chosen, losers []nominee) {
	var routed, elsewhere []nominee
	for _, n := range f.fit {
		// A link's metric is that of its IPv4 default route, and of IPv6 without one: metrics of
		// different families cannot be compared.
		route, ok := defaultRoute(f.routes, n.Index,
			func(r Route) bool { return r.Destination.Addr().Is4() })
		if !ok {
			elsewhere = append(elsewhere, n.ruled(fmt.Sprintf("%s has no default route", n.Name)))
			continue
		}
		a := n.Prefix.Addr()
		own, _ := defaultRoute(f.routes, n.Index, func(r Route) bool { return sameFamily(r, a) })
		n.metric, n.router = route.Metric, own.Gateway
		routed = append(routed, n.ruled(fmt.Sprintf("no network has a hint or a VIP, and the "+
			"default route of %s has the metric %d", n.Name, n.metric)))
	}
	byFamily := prefer(f.preferred,
		func(a, _ nominee) string { return family(a.Prefix.Addr()) + " is preferred" })
	chosen, losers = order{isUp(), byMetric(), byIndex(), byFamily, hasRouter(), isPublic(),
		isReal(), f.lasts, isLowest()}.best(routed)
	return chosen, append(losers, elsewhere...)
}
