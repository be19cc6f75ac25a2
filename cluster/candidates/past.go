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
	ends    time.Time // when the last of its states lapses
}

// settle gives Nodes that have no address of a family any more those that they had a moment ago,
// but for those that another Node has now. A starting kubelet takes addresses away and puts them
// back: without that the list would change twice, and a VIP would leave its holder. lapses is after
// what time to settle again; zero if nothing has changed.
func (p *past) settle(nodes []Node, now time.Time) (settled []Node, lapses time.Duration) {
	plain, names := make([]addr.Candidate, len(nodes)), map[netip.Addr]string{}
	for i, n := range nodes {
		plain[i] = n.Candidate
		for _, a := range slices.Concat(n.InternalIPs, n.Annotated) {
			names[a] = n.Name
		}
	}
	if p.nodes != nil && !slices.EqualFunc(p.nodes, plain, addr.Candidate.Equal) {
		p.ends = now.Add(peer.Lapse)
	}
	p.history.Note(p.nodes, plain, now)
	p.nodes = plain
	settled = slices.Clone(nodes)
	for i := range settled {
		n := &settled[i]
		free := func(a netip.Addr) bool { return names[a] == "" || names[a] == n.Name }
		for _, former := range slices.Backward(p.history.Of(n.Name)) {
			n.InternalIPs = completed(n.InternalIPs, former.InternalIPs, free)
			n.Annotated = completed(n.Annotated, former.Annotated, free)
		}
	}
	return settled, max(0, p.ends.Sub(now))
}

// completed are addresses with the free ones of a former state, of each family that they lack.
func completed(addresses, former []netip.Addr, free func(netip.Addr) bool) []netip.Addr {
	all := slices.Clone(addresses)
	for _, a := range former {
		has := func(b netip.Addr) bool { return b.Is4() == a.Is4() }
		if free(a) && !slices.ContainsFunc(addresses, has) {
			all = append(all, a)
		}
	}
	return all
}
