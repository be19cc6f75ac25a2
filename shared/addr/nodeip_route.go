package addr

import (
	"cmp"
	"fmt"
	"slices"
)

// byRoute chooses an address of each family on interfaces that have a default route: the lower
// metric, then the lower link index, the preferred family, the address whose network holds the
// router, public before private, real IPv6 before IPv4-mapped, a lasting address before a temporary
// one, and the lowest bytes. The node's primary address is the one that comes first in this order.
func (f field) byRoute() (chosen, losers []nominee) {
	var routed, elsewhere []nominee
	for _, n := range f.fit {
		metric, ok := metric(f.routes, n.Index)
		if !ok {
			elsewhere = append(elsewhere, n.ruled(fmt.Sprintf("%s has no default route", n.Name)))
			continue
		}
		own, _ := defaultRoute(f.routes, n.candidate)
		n.metric, n.router = metric, own.Gateway
		routed = append(routed, n.ruled(fmt.Sprintf("no network has a hint or a VIP, and the default route of %s has the metric %d", n.Name, metric)))
	}
	byFamily := rung{
		func(a, b nominee) int { return first(f.preferred(a), f.preferred(b)) },
		func(a, _ nominee) string { return family(a.Prefix.Addr()) + " is preferred" },
	}
	chosen, losers = ladder{isUp(), byMetric(), byIndex(), byFamily, hasRouter(), isPublic(), isReal(), f.lasts(), lowest()}.best(routed)
	return chosen, append(losers, elsewhere...)
}

// metric is that of the link's default route: the best one of IPv4, and without one the best of
// IPv6. Metrics of different families are not made to be compared, so each link is judged by one of
// them.
func metric(routes []Route, link int) (int, bool) {
	var found []Route
	for _, r := range routes {
		if r.LinkIndex == link && r.Destination.IsValid() && r.Destination.Bits() == 0 {
			found = append(found, r)
		}
	}
	if len(found) == 0 {
		return 0, false
	}
	return slices.MinFunc(found, func(a, b Route) int {
		return cmp.Or(first(a.Destination.Addr().Is4(), b.Destination.Addr().Is4()), cmp.Compare(a.Metric, b.Metric))
	}).Metric, true
}
