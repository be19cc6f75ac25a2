package routed

import (
	"fmt"
	"slices"
	"strings"
)

// Spreads reports whether routers are to spread connections over all hosts that serve.
func (p *Plan) Spreads() bool { return p.Mode == ecmp }

// Share is what each host of a rack gets of the connections that come from outside of the racks.
type Share struct {
	Rack    Rack
	Hosts   int
	Percent float64 // of each of them
}

// Shares are those of the racks with hosts that announce a VIP, in the order of the plan. hosts
// is the number of these hosts by the rack's String. Routers above the racks spread connections
// over the racks' routers, whatever is behind each, and those over their hosts. That holds if
// one level of routers joins the racks and all racks' routers are known; else Shares is nil.
func (p *Plan) Shares(six bool, hosts map[string]int) (all []Share) {
	if !p.Spreads() || p.FabricDepth != 1 {
		return nil
	}
	sum := 0
	for _, r := range p.Racks {
		n := hosts[r.String()]
		if n == 0 {
			continue
		}
		routers := r.routers(six)
		if routers == 0 {
			return nil
		}
		sum += routers
		all = append(all, Share{Rack: r, Hosts: n, Percent: 100 * float64(routers) / float64(n)})
	}
	for i := range all {
		all[i].Percent /= float64(sum)
	}
	return all
}

// routers are how many of a rack have routes of a family; 0 if that is not known.
func (r Rack) routers(six bool) (n int) {
	for _, p := range r.Peers {
		if p.Interface != "" || p.Address.Is6() == six {
			n++
		}
	}
	return n
}

// unequal names the racks with their numbers of routers if these differ; else it is empty.
func (p *Plan) unequal() string {
	if !p.Spreads() || p.FabricDepth != 1 {
		return ""
	}
	for _, six := range []bool{false, true} {
		var counts []int
		var words []string
		for _, r := range p.Racks {
			if n := r.routers(six); n > 0 {
				counts, words = append(counts, n), append(words, fmt.Sprintf("%s: %d", r, n))
			}
		}
		if len(counts) > 0 && slices.Min(counts) != slices.Max(counts) {
			return strings.Join(words, ", ")
		}
	}
	return ""
}
