package peer

import (
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
)

// Lapse is how long an address still counts after a node's object has lost it. A starting kubelet
// or a network plugin removes addresses from the object for a moment and puts them back. The node
// sends from them all the time.
const Lapse = 10 * time.Second

// mostFormer limits the former states of one node: its kubelet can change its addresses at any
// rate.
const mostFormer = 8

// History is the addresses that nodes had until a moment ago. The zero value is empty.
type History struct{ nodes map[string][]former }

// former is what a node was until then.
type former struct {
	node  addr.Candidate
	until time.Time
}

// Note records a change of a list of nodes, and forgets states older than Lapse. A node that has
// left the list was deleted, so its past is forgotten at once.
func (p *History) Note(before, now []addr.Candidate, at time.Time) {
	changed := !slices.EqualFunc(before, now, addr.Candidate.Equal)
	if !changed && len(p.nodes) == 0 {
		return
	}
	named := make(map[string]addr.Candidate, len(now))
	for _, n := range now {
		named[n.Name] = n
	}
	for name, all := range p.nodes {
		all = slices.DeleteFunc(all, func(f former) bool { return !at.Before(f.until) })
		if p.nodes[name] = all; len(all) == 0 || named[name].Name != name {
			delete(p.nodes, name)
		}
	}
	if !changed {
		return
	}
	for _, n := range before {
		if is, exists := named[n.Name]; exists && !keeps(is, n) {
			if p.nodes == nil {
				p.nodes = map[string][]former{}
			}
			all := append(p.nodes[n.Name], former{node: n, until: at.Add(Lapse)})
			p.nodes[n.Name] = all[max(0, len(all)-mostFormer):]
		}
	}
}

// Of are the former states of a node that still count.
func (p *History) Of(name string) []addr.Candidate {
	var all []addr.Candidate
	for _, f := range p.nodes[name] {
		all = append(all, f.node)
	}
	return all
}

// keeps reports whether a node has every address that it had.
func keeps(n, before addr.Candidate) bool {
	all := func(has, had []netip.Addr) bool {
		return !slices.ContainsFunc(had,
			func(a netip.Addr) bool { return !slices.Contains(has, a) })
	}
	return all(n.InternalIPs, before.InternalIPs) && all(n.Annotated, before.Annotated)
}
