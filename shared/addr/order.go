package addr

import (
	"cmp"
	"fmt"
	"slices"
)

// rule is one rule of an order. Its compare is negative when a comes first; why is what decides for
// a.
type rule struct {
	compare func(a, b nominee) int
	why     func(a, b nominee) string
}

// order is a list of rules: the first one by which two nominees differ decides.
type order []rule

func (o order) compare(a, b nominee) int {
	for _, r := range o {
		if c := r.compare(a, b); c != 0 {
			return c
		}
	}
	return 0
}

// why is the rule that decided for the winner.
func (o order) why(winner, loser nominee) string {
	for _, r := range o {
		if r.compare(winner, loser) != 0 {
			return r.why(winner, loser)
		}
	}
	return fmt.Sprintf("%s of %s is the same address", winner.Prefix, winner.Name)
}

// prefer puts nominees that have a property first.
func prefer(has func(nominee) bool, why func(a, b nominee) string) rule {
	return rule{func(a, b nominee) int { return first(has(a), has(b)) }, why}
}

func isUp() rule {
	return prefer(func(n nominee) bool { return n.Up }, func(a, b nominee) string {
		return fmt.Sprintf("%s is down or has no carrier, %s is up", b.Name, a.Name)
	})
}

func byIndex() rule {
	return rule{
		func(a, b nominee) int {
			return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Name, b.Name))
		},
		func(a, b nominee) string {
			return fmt.Sprintf("%s has the link index %d, %s has %d", b.Name, b.Index, a.Name,
				a.Index)
		},
	}
}

func isExact() rule {
	return prefer(func(n nominee) bool { return n.exact }, func(a, _ nominee) string {
		return fmt.Sprintf("%s is the hint itself", a.Prefix.Addr())
	})
}

func isWanted() rule {
	return prefer(func(n nominee) bool { return n.wanted }, func(a, _ nominee) string {
		return fmt.Sprintf("%s is in a wanted network", a.Prefix)
	})
}

func byMetric() rule {
	return rule{
		func(a, b nominee) int { return cmp.Compare(a.metric, b.metric) },
		func(a, b nominee) string {
			return fmt.Sprintf("the default route of %s has the metric %d, that of %s %d", b.Name,
				b.metric, a.Name, a.metric)
		},
	}
}

func hasRouter() rule {
	return prefer(func(n nominee) bool { return n.Prefix.Contains(n.router) },
		func(a, _ nominee) string {
			return fmt.Sprintf("the router %s is in the network of %s", a.router, a.Prefix)
		})
}

func isPublic() rule {
	return prefer(func(n nominee) bool { return !n.Prefix.Addr().IsPrivate() },
		func(a, _ nominee) string { return fmt.Sprintf("%s is a public address", a.Prefix.Addr()) })
}

func isReal() rule {
	return prefer(func(n nominee) bool { return !n.Prefix.Addr().Is4In6() },
		func(nominee, nominee) string { return "it is an IPv4-mapped address" })
}

// lasts puts addresses that come and go last: temporary ones of IPv6, and secondary ones of IPv4
// unless the lowest address is asked for.
func lasts(lowest bool) rule {
	return prefer(func(n nominee) bool { return !n.Secondary || lowest && n.Prefix.Addr().Is4() },
		func(nominee, nominee) string { return "it is a secondary or temporary address" })
}

func isLowest() rule {
	return rule{
		func(a, b nominee) int {
			return cmp.Or(a.Prefix.Addr().Compare(b.Prefix.Addr()),
				cmp.Compare(a.Prefix.Bits(), b.Prefix.Bits()))
		},
		func(a, _ nominee) string { return fmt.Sprintf("%s is the lower address", a.Prefix) },
	}
}

// best is the first nominee of each family, and the others, each with the rule by which it lost to
// its family's first one. An IPv4-mapped address is not chosen beside an IPv4 one: readers of the
// two take them for one family.
func (o order) best(list []nominee) (chosen, losers []nominee) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, o.compare)
	hasIPv4 := slices.ContainsFunc(list, func(n nominee) bool { return n.Prefix.Addr().Is4() })
	for _, n := range list {
		i := slices.IndexFunc(chosen,
			func(c nominee) bool { return family(c.Prefix.Addr()) == family(n.Prefix.Addr()) })
		switch {
		case i >= 0:
			losers = append(losers, n.ruled(o.why(chosen[i], n)))
		case hasIPv4 && n.Prefix.Addr().Is4In6():
			losers = append(losers, n.ruled("it is IPv4-mapped, and beside an IPv4 address it "+
				"would be read as a second one"))
		default:
			chosen = append(chosen, n)
		}
	}
	return chosen, losers
}

// first orders true before false.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}
