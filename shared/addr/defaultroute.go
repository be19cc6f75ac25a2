package addr

import (
	"cmp"
	"net/netip"
	"slices"
)

// byDefaultRoute chooses among the addresses of links that have a default route. A default route of
// the address's own family counts before one of the other family.
func byDefaultRoute(routes []Route, own []candidate) (nominee, bool) {
	var routed []nominee
	for _, c := range own {
		a := c.Prefix.Addr()
		if r, ok := defaultRoute(routes, c.Index,
			func(r Route) bool { return sameFamily(r, a) }); ok {
			routed = append(routed, nominee{candidate: c, exact: sameFamily(r, a),
				metric: r.Metric, router: r.Gateway})
		}
	}
	if len(routed) == 0 {
		return nominee{}, false
	}
	o := order{isExact(), isUp(), byMetric(), byIndex(), hasRouter(), isPublic(), isReal(),
		lasts(false), isLowest()}
	return slices.MinFunc(routed, o.compare), true
}

// defaultRoute is the best default route of a link: a preferred one, then the one of the lowest
// metric.
func defaultRoute(routes []Route, link int, preferred func(Route) bool) (Route, bool) {
	var found []Route
	for _, r := range routes {
		if r.LinkIndex == link && r.Destination.IsValid() && r.Destination.Bits() == 0 {
			found = append(found, r)
		}
	}
	if len(found) == 0 {
		return Route{}, false
	}
	return slices.MinFunc(found, func(a, b Route) int {
		return cmp.Or(first(preferred(a), preferred(b)), cmp.Compare(a.Metric, b.Metric),
			a.Gateway.Compare(b.Gateway))
	}), true
}

func sameFamily(r Route, a netip.Addr) bool { return r.Destination.Addr().BitLen() == a.BitLen() }
