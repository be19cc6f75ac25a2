package addr

import (
	"cmp"
	"fmt"
	"slices"
)

// rung is one rule of an order. Its compare is negative when a comes first; loses says what b lacks
// that a has.
type rung struct {
	compare func(a, b nominee) int
	loses   func(a, b nominee) string
}

// ladder is an order of nominees: the first rung on which two differ decides.
type ladder []rung

func (l ladder) compare(a, b nominee) int {
	for _, r := range l {
		if c := r.compare(a, b); c != 0 {
			return c
		}
	}
	return 0
}

// why is what decided for the winner.
func (l ladder) why(winner, loser nominee) string {
	for _, r := range l {
		if r.compare(winner, loser) != 0 {
			return r.loses(winner, loser)
		}
	}
	return fmt.Sprintf("%s of %s is the same address", winner.Prefix, winner.Name)
}

func isUp() rung {
	return rung{
		func(a, b nominee) int { return first(a.Up, b.Up) },
		func(a, b nominee) string {
			return fmt.Sprintf("%s is down or has no carrier, %s is up", b.Name, a.Name)
		},
	}
}

func byIndex() rung {
	return rung{
		func(a, b nominee) int { return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Name, b.Name)) },
		func(a, b nominee) string {
			return fmt.Sprintf("%s has the link index %d, %s has %d", b.Name, b.Index, a.Name, a.Index)
		},
	}
}

func isExact() rung {
	return rung{
		func(a, b nominee) int { return first(a.exact, b.exact) },
		func(a, _ nominee) string { return fmt.Sprintf("%s is the hint itself", a.Prefix.Addr()) },
	}
}

func isWanted() rung {
	return rung{
		func(a, b nominee) int { return first(a.wanted, b.wanted) },
		func(a, _ nominee) string { return fmt.Sprintf("%s is in a wanted network", a.Prefix) },
	}
}

func byMetric() rung {
	return rung{
		func(a, b nominee) int { return cmp.Compare(a.metric, b.metric) },
		func(a, b nominee) string {
			return fmt.Sprintf("the default route of %s has the metric %d, that of %s %d", b.Name, b.metric, a.Name, a.metric)
		},
	}
}

func hasRouter() rung {
	return rung{
		func(a, b nominee) int { return first(a.Prefix.Contains(a.router), b.Prefix.Contains(b.router)) },
		func(a, _ nominee) string {
			return fmt.Sprintf("the router %s is in the network of %s", a.router, a.Prefix)
		},
	}
}

func isPublic() rung {
	return rung{
		func(a, b nominee) int { return first(!a.Prefix.Addr().IsPrivate(), !b.Prefix.Addr().IsPrivate()) },
		func(a, _ nominee) string { return fmt.Sprintf("%s is a public address", a.Prefix.Addr()) },
	}
}

func isReal() rung {
	return rung{
		func(a, b nominee) int { return first(!a.Prefix.Addr().Is4In6(), !b.Prefix.Addr().Is4In6()) },
		func(nominee, nominee) string { return "it is an IPv4-mapped address" },
	}
}

// lasts puts addresses that come and go last: temporary ones of IPv6, and of IPv4 those that were
// added beside an interface's primary one, unless the lowest is asked for.
func (f field) lasts() rung {
	last := func(n nominee) bool { return n.Secondary && !(f.lowest && n.Prefix.Addr().Is4()) }
	return rung{
		func(a, b nominee) int { return first(!last(a), !last(b)) },
		func(nominee, nominee) string { return "it is a secondary or temporary address" },
	}
}

func lowest() rung {
	return rung{
		func(a, b nominee) int { return byBytes(a.candidate, b.candidate) },
		func(a, _ nominee) string { return fmt.Sprintf("%s is the lower address", a.Prefix) },
	}
}

// best is the first nominee of each family, and the others, each with the rule by which it lost to
// its family's first one. An IPv4-mapped address is no second one beside an IPv4 one: to who reads
// the two they are of one family.
func (l ladder) best(list []nominee) (chosen, losers []nominee) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, l.compare)
	hasIPv4 := slices.ContainsFunc(list, func(n nominee) bool { return n.Prefix.Addr().Is4() })
	for _, n := range list {
		i := slices.IndexFunc(chosen, func(c nominee) bool { return family(c.Prefix.Addr()) == family(n.Prefix.Addr()) })
		switch {
		case i >= 0:
			losers = append(losers, n.ruled(l.why(chosen[i], n)))
		case hasIPv4 && n.Prefix.Addr().Is4In6():
			losers = append(losers, n.ruled("it is IPv4-mapped, and beside an IPv4 address it would be read as a second one"))
		default:
			chosen = append(chosen, n)
		}
	}
	return chosen, losers
}
