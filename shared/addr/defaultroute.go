package addr

import (
	"cmp"
	"net/netip"
	"slices"
)

// byDefaultRoute chooses among the addresses of links that have a default route. A default route of
// the address's own family counts before one of the other family; then come links that are up, the
// lower metric, the lower link index, the address whose network holds the gateway, public before
// private, real IPv6 before IPv4-mapped, a lasting address before a temporary one, and the lowest
// bytes.
func byDefaultRoute(routes []Route, own []candidate) (candidate, Route, bool) {
	type pair struct {
		candidate
		route Route
	}
	var pairs []pair
	for _, c := range own {
		if r, ok := defaultRoute(routes, c); ok {
			pairs = append(pairs, pair{c, r})
		}
	}
	if len(pairs) == 0 {
		return candidate{}, Route{}, false
	}
	best := slices.MinFunc(pairs, func(a, b pair) int {
		x, y := a.Prefix.Addr(), b.Prefix.Addr()
		return cmp.Or(
			first(sameFamily(a.route, x), sameFamily(b.route, y)),
			first(a.Up, b.Up),
			cmp.Compare(a.route.Metric, b.route.Metric),
			cmp.Compare(a.Index, b.Index),
			first(a.Prefix.Contains(a.route.Gateway), b.Prefix.Contains(b.route.Gateway)),
			first(!x.IsPrivate(), !y.IsPrivate()),
			first(!x.Is4In6(), !y.Is4In6()),
			first(!a.Secondary, !b.Secondary),
			byBytes(a.candidate, b.candidate),
		)
	})
	return best.candidate, best.route, true
}

// defaultRoute is the best default route of the candidate's link, of its own family when there is
// one.
func defaultRoute(routes []Route, c candidate) (Route, bool) {
	var found []Route
	for _, r := range routes {
		if r.LinkIndex == c.Index && r.Destination.IsValid() && r.Destination.Bits() == 0 {
			found = append(found, r)
		}
	}
	if len(found) == 0 {
		return Route{}, false
	}
	own := c.Prefix.Addr()
	return slices.MinFunc(found, func(a, b Route) int {
		return cmp.Or(first(sameFamily(a, own), sameFamily(b, own)), cmp.Compare(a.Metric, b.Metric), a.Gateway.Compare(b.Gateway))
	}), true
}

func sameFamily(r Route, a netip.Addr) bool {
	return r.Destination.Addr().BitLen() == a.BitLen()
}
