// Package candidates keeps the list of the nodes that may hold the ingress VIP: which nodes they
// are, which control plane node writes the list, and when its readers accept it.
//
// The list is an annotation on the Node of the control plane node that wrote it last. A kubelet may
// write its own Node only, so no worker can change the list, and workers watch the Nodes of the
// control plane anyway. A list has a serial, and the highest serial counts. Nodes of the former
// release read a ConfigMap, which is updated as long as it exists.
//
// The former release writes the ConfigMap only, and leaves an older list on its Node. So a list is
// renewed every five minutes, and readers use the ConfigMap if no list was renewed for fifteen.
package candidates

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/addr/peer"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// Node has the properties of a Node on which the list depends.
type Node struct {
	addr.Candidate
	Ready        bool // its kubelet works
	ControlPlane bool
	NoVIP        bool // it never holds a VIP: an arbiter, or a worker in another network
	Created      time.Time
	Key          string // for reports of clients; empty for none

	List string // of a control plane node: the list on its own Node, verbatim; empty for none
}

// Lists are the lists on the Nodes of the control plane, by the nodes' names.
func Lists(nodes []Node) map[string]string {
	texts := map[string]string{}
	for _, n := range nodes {
		if n.ControlPlane && n.List != "" {
			texts[n.Name] = n.List
		}
	}
	return texts
}

// Rank lists the nodes that may hold the ingress VIP. Nodes with a ready router come first, then
// those that are listed already, so that a full list seldom changes, then ready nodes, each by
// name. routers are the names of nodes with a ready router.
func Rank(
	p plan.Plan, nodes []Node, routers []string, listed []notice.Candidate,
) []notice.Candidate {
	list, worth := []notice.Candidate{}, map[string]int{}
	addresses := share(p, nodes)
	for _, n := range slices.SortedFunc(slices.Values(nodes), byName) {
		own := addresses[n.Name]
		if len(own) == 0 {
			continue
		}
		list = append(list, notice.Candidate{Name: n.Name, Addresses: own, Key: n.Key})
		isListed := func(c notice.Candidate) bool { return c.Name == n.Name }
		for i, holds := range []bool{
			n.Ready, slices.ContainsFunc(listed, isListed), slices.Contains(routers, n.Name),
		} {
			if holds {
				worth[n.Name] += 1 << i
			}
		}
	}
	slices.SortStableFunc(list, func(a, b notice.Candidate) int {
		return cmp.Compare(worth[b.Name], worth[a.Name])
	})
	return list[:min(len(list), notice.MostCandidates)]
}

func byName(a, b Node) int { return strings.Compare(a.Name, b.Name) }

// byAge orders the Nodes by a time that no kubelet can change.
func byAge(a, b Node) int { return cmp.Or(a.Created.Compare(b.Created), byName(a, b)) }

// claim has one Node's addresses of a family. The first is the one by which peers know it.
type claim struct {
	name      string
	addresses []netip.Addr
}

// share finds, by the Nodes' names, the addresses from which each may advertise the ingress VIPs:
// for each family the one by which peers know it. If only its network plugin knows that one, the
// others in that network count too, as the node may use any of them.
//
// Two machines with one address must not make the list invalid, so each address counts for one
// Node. A kubelet can write any address on its own Node. So an InternalIP, of which one counts,
// comes before what is annotated, and the oldest Node before others. The annotated addresses are
// shared out one by one: two routers whose addresses are one Node's would not know each other.
func share(p plan.Plan, nodes []Node) map[string][]netip.Addr {
	cluster := Cluster(p)
	oldest := slices.SortedFunc(slices.Values(nodes), byAge)
	oldest = slices.DeleteFunc(oldest, func(n Node) bool { return n.NoVIP })
	own, taken := map[string][]netip.Addr{}, map[netip.Addr]bool{}
	for _, vip := range p.VIPs.Ingress {
		free := func(a netip.Addr) bool {
			return a.BitLen() == vip.BitLen() && cluster.Has(a) == nil && !taken[a]
		}
		takeOne := func(claims []claim) {
			for _, c := range claims {
				if i := slices.IndexFunc(c.addresses, free); i >= 0 {
					own[c.name] = append(own[c.name], c.addresses[i])
					taken[c.addresses[i]] = true
				}
			}
		}
		var internal, annotated []claim
		for _, n := range oldest {
			all := peer.All(n.Candidate, vip, netip.Addr{}, cluster.VIPs, p.MachineNetworks)
			if len(all) > 0 && slices.Contains(n.InternalIPs, all[0]) {
				internal = append(internal, claim{n.Name, all})
			} else if len(all) > 0 {
				annotated = append(annotated, claim{n.Name, slices.Concat(all, n.Annotated)})
			}
		}
		takeOne(internal)
		for range peer.PerFamily {
			takeOne(annotated)
		}
	}
	return own
}

// Cluster has the networks and VIPs that decide whether a list's address is valid.
func Cluster(p plan.Plan) notice.Cluster {
	return notice.Cluster{Machines: p.MachineNetworks, VIPs: p.VIPs.All()}
}
