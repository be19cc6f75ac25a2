package candidates

import (
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/addr/peer"
)

// past is the addresses that Nodes had until a moment ago. The zero value is empty.
type past struct {
	nodes   []addr.Candidate
	history peer.History
	ends    time.Time // of what it has; none is later
}

// settle gives Nodes the addresses that they have lost a moment ago, but for those that another one
// has now. A starting kubelet takes addresses away and puts them back: without that the list would
// change twice, and a VIP would leave its holder. lapses is after what time to settle again; zero
// if nothing has changed.
func (p *past) settle(nodes []Node, now time.Time) (settled []Node, lapses time.Duration) {
	plain, taken := make([]addr.Candidate, len(nodes)), map[netip.Addr]bool{}
	for i, n := range nodes {
		plain[i] = n.Candidate
		for _, a := range slices.Concat(n.InternalIPs, n.Annotated) {
			taken[a] = true
		}
	}
	if p.nodes != nil && !slices.EqualFunc(p.nodes, plain, addr.Candidate.Equal) {
		p.ends = now.Add(peer.Lapse)
	}
	p.history.Note(p.nodes, plain, now)
	p.nodes = plain
	settled = slices.Clone(nodes)
	for i, n := range nodes {
		for _, former := range p.history.Of(n.Name) {
			internal := &settled[i].InternalIPs
			*internal = joined(*internal, former.InternalIPs, taken)
			annotated := &settled[i].Annotated
			*annotated = joined(*annotated, former.Annotated, taken)
		}
	}
	return settled, max(0, p.ends.Sub(now))
}

// joined are addresses after those of a former state that nobody has: of several of a family the
// last one counts.
func joined(addresses, former []netip.Addr, taken map[netip.Addr]bool) (all []netip.Addr) {
	for _, a := range former {
		if !taken[a] && !slices.Contains(addresses, a) {
			all = append(all, a)
		}
	}
	return append(all, addresses...)
}
