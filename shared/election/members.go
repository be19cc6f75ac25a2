package election

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/addr/peer"
	"github.com/onprem-infra/onprem-infra/shared/notice"
)

// MostMembers bounds the members of an election, of one family. A cluster of Kubernetes has 5,000
// nodes at most, and none is known with more than 2,000 whose nodes all hold the ingress VIP.
const MostMembers = 2048

// Members are the addresses of the hosts that may hold a VIP, sorted. They include addresses that
// e.Past still has: those that a node lost a moment ago, and those of nodes that were deleted or
// left the list of candidates a moment ago. own is the local host's address, if it is a node: no
// other address of it is a member.
func (e Election) Members(v VIP, own netip.Addr) []netip.Addr {
	if e.Alone {
		return []netip.Addr{own}
	}
	var members []netip.Addr
	for _, n := range e.Nodes {
		all := e.addresses(n, v, own)
		if e.Past.Nodes != nil {
			for _, former := range e.Past.Nodes.Of(n.Name) {
				all = append(all, e.addresses(former, v, own)...)
			}
		}
		if slices.Contains(all, own) {
			all = []netip.Addr{own}
		}
		members = append(members, all[:min(len(all), 2*peer.PerFamily)]...)
	}
	if e.Past.Nodes != nil {
		for _, n := range e.Past.Nodes.Deleted() {
			if all := e.addresses(n, v, own); !slices.Contains(all, own) {
				members = append(members, all...)
			}
		}
	}
	members = members[:min(len(members), MostMembers)]
	members = append(members, e.listed(v, own)...)
	slices.SortFunc(members, netip.Addr.Compare)
	return slices.Compact(members)
}

// listed are the members by the list of candidates.
func (e Election) listed(v VIP, own netip.Addr) (members []netip.Addr) {
	past := cmp.Or(e.Past.Candidates, &peer.History{})
	addresses := func(c notice.Candidate) []netip.Addr {
		return slices.DeleteFunc(c.Members(v.Via, own), e.isVIP)
	}
	present := slices.ContainsFunc(e.Candidates, func(c notice.Candidate) bool {
		return slices.Contains(c.Addresses, own)
	})
	for _, c := range e.Candidates {
		all := addresses(c)
		for _, former := range past.Of(c.Name) {
			if present && slices.Contains(former.InternalIPs, own) {
				continue // it has moved here
			}
			all = append(all, addresses(notice.Candidate{Addresses: former.InternalIPs})...)
		}
		if slices.Contains(all, own) {
			all = []netip.Addr{own}
		}
		members = append(members, all[:min(len(all), 2*peer.PerFamily)]...)
	}
	for _, left := range past.Deleted() {
		all := addresses(notice.Candidate{Addresses: left.InternalIPs})
		if !slices.Contains(all, own) {
			members = append(members, all...)
		}
	}
	return members
}

func (e Election) addresses(n addr.Candidate, v VIP, own netip.Addr) []netip.Addr {
	return peer.All(n, v.Via, own, e.vips, e.networks)
}

func (e Election) isVIP(a netip.Addr) bool { return slices.Contains(e.vips, a) }

// Join lists addresses for a reason or a message.
func Join(addresses []netip.Addr) string {
	texts := make([]string, len(addresses))
	for i, a := range addresses {
		texts[i] = a.String()
	}
	return strings.Join(texts, " ")
}
