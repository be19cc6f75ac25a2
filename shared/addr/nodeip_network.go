package addr

import (
	"fmt"
	"net/netip"
	"slices"
)

// byNetwork chooses the first interface with a network that has one of the addresses, and on it
// an address of each family; nothing if there is none. what names the kind of address in reasons.
func (f field) byNetwork(addresses []netip.Addr, what string) (chosen, losers []nominee) {
	marked := f.marked(addresses, what)
	i := slices.IndexFunc(marked, func(n nominee) bool { return n.exact })
	if i < 0 {
		i = slices.IndexFunc(marked, func(n nominee) bool { return n.wanted })
	}
	if i < 0 {
		return nil, nil
	}
	winner := marked[i]
	var there, elsewhere []nominee
	for _, n := range marked {
		switch {
		case n.Index == winner.Index && n.Name == winner.Name:
			there = append(there, n)
		case !n.wanted:
			elsewhere = append(elsewhere, n.ruled(fmt.Sprintf("no %s is in its network", what)))
		default:
			elsewhere = append(elsewhere,
				n.ruled(order{isExact(), isUp(), byIndex(), isLowest()}.why(winner, n)))
		}
	}
	// Of two addresses of one family the exact one comes first: other ones may be wanted too.
	chosen, losers = order{isExact(), isWanted(), f.lasts, isReal(), isLowest()}.best(there)
	slices.SortStableFunc(chosen,
		func(a, b nominee) int { return first(f.preferred(a), f.preferred(b)) })
	for i, n := range chosen {
		if !n.wanted {
			chosen[i] = n.ruled(fmt.Sprintf("the other family's address on %s, where a %s is in "+
				"a network", n.Name, what))
		}
	}
	return chosen, append(losers, elsewhere...)
}

// marked are the nominees, each marked if it is one of the addresses, or its network has one.
func (f field) marked(addresses []netip.Addr, what string) []nominee {
	marked := slices.Clone(f.fit)
	for i, n := range marked {
		own := n.Prefix.Addr()
		if slices.Contains(addresses, own) {
			marked[i].exact, marked[i].wanted = true, true
			marked[i].why = fmt.Sprintf("it is the %s itself", what)
		} else if network, hit, ok := n.hit(f.routes, addresses); ok {
			marked[i].wanted = true
			marked[i].why = fmt.Sprintf("the %s %s is in its network %s", what, hit, network)
		}
	}
	return marked
}

func (f field) preferred(n nominee) bool {
	return (family(n.Prefix.Addr()) == "IPv6") == f.prefer6
}
