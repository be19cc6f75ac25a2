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

// Gone is how long others go on to advertise to a node that was deleted: until its own keepalived
// has closed its instance. If adverts ended before that, the node would take over the VIP.
const Gone = 500 * time.Millisecond

// mostFormer limits the former states of one node: its kubelet can change its addresses at any
// rate.
const mostFormer = 8

// History is the addresses that nodes had until a moment ago. The zero value is empty.
type History struct {
	nodes   map[string][]former
	deleted []former
}

// former is what a node was until then.
type former struct {
	node  addr.Candidate
	until time.Time
}

// Note records a change of a list of nodes, and forgets states older than Lapse. A node that has
// left the list was deleted: it is kept for Gone, and Note reports it.
func (p *History) Note(before, now []addr.Candidate, at time.Time) (deleted bool) {
	changed := !slices.EqualFunc(before, now, addr.Candidate.Equal)
	if !changed && len(p.nodes)+len(p.deleted) == 0 {
		return false
	}
	named := make(map[string]addr.Candidate, len(now))
	for _, n := range now {
		named[n.Name] = n
	}
	p.deleted = slices.DeleteFunc(p.deleted, func(f former) bool {
		return !at.Before(f.until) || named[f.node.Name].Name != ""
	})
	for name, all := range p.nodes {
		all = slices.DeleteFunc(all, func(f former) bool { return !at.Before(f.until) })
		if p.nodes[name] = all; len(all) == 0 || named[name].Name != name {
			delete(p.nodes, name)
		}
	}
	if !changed {
		return false
	}
	for _, n := range before {
		is, exists := named[n.Name]
		if !exists {
			p.deleted, deleted = append(p.deleted, former{node: n, until: at.Add(Gone)}), true
		}
		if exists && !keeps(is, n) {
			if p.nodes == nil {
				p.nodes = map[string][]former{}
			}
			all := append(p.nodes[n.Name], former{node: n, until: at.Add(Lapse)})
			p.nodes[n.Name] = all[max(0, len(all)-mostFormer):]
		}
	}
	return deleted
}

// Of are the former states of a node that still count.
func (p *History) Of(name string) []addr.Candidate {
	var all []addr.Candidate
	for _, f := range p.nodes[name] {
		all = append(all, f.node)
	}
	return all
}

// Deleted are the nodes that were deleted a moment ago.
func (p *History) Deleted() []addr.Candidate {
	var all []addr.Candidate
	for _, f := range p.deleted {
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
