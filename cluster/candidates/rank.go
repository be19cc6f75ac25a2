// Package candidates keeps the list of the nodes that may hold the ingress VIP: which they are,
// which control plane node writes it, and what of it its readers believe.
//
// The list stands on the Node of the control plane node that wrote it last, as an annotation: every
// kubelet may write its own Node and no other one, so no worker can change the list, and workers
// watch the Nodes of the control plane anyway. A list has a number, and the highest number counts.
// Nodes of the former release read a ConfigMap, which is kept in step as long as it exists.
//
// The former release writes the ConfigMap alone, and leaves a list on a Node as it was. So a list
// is written anew every five minutes, and readers go by the ConfigMap when no list has been for
// fifteen.
package candidates

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/addr/member"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// Node is a Node as far as it matters here.
type Node struct {
	addr.Node
	Ready        bool // its kubelet works
	ControlPlane bool
	Apart        bool // holds no VIP whatever happens: an arbiter, or a worker on another network

	List string // of a control plane node: the list on its own Node, as it stands there; empty for none
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

// Rank lists the nodes that may hold the ingress VIP: those with a ready router first, then those
// that listed already has, so that a list which is full does not change with every wind, then those
// that work, and by name. routers are the names of nodes with a ready router.
func Rank(p plan.Plan, nodes []Node, routers []string, listed []notice.Candidate) []notice.Candidate {
	type entry struct {
		notice.Candidate
		worth int
	}
	var all []entry
	taken := map[netip.Addr]bool{}
	for _, n := range slices.SortedFunc(slices.Values(nodes), func(a, b Node) int { return strings.Compare(a.Name, b.Name) }) {
		if n.Apart {
			continue
		}
		own := addresses(p, n.Node, taken)
		if len(own) == 0 {
			continue
		}
		e := entry{Candidate: notice.Candidate{Name: n.Name, Addresses: own}}
		for i, good := range []bool{n.Ready, slices.ContainsFunc(listed, func(c notice.Candidate) bool { return c.Name == n.Name }), slices.Contains(routers, n.Name)} {
			if good {
				e.worth += 1 << i
			}
		}
		all = append(all, e)
	}
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Compare(b.worth, a.worth) })
	list := []notice.Candidate{}
	for _, e := range all[:min(len(all), notice.MostCandidates)] {
		list = append(list, e.Candidate)
	}
	return list
}

// addresses are those by which a node takes part in the election of the ingress VIPs: for each
// family the one by which peers know it, and when that is known by its network plugin alone, the
// others in that network too, as the node may take another of them for its own. An address that a
// node before it has is not its own: two machines with one address are a fault that must not make
// the list unreadable.
func addresses(p plan.Plan, n addr.Node, taken map[netip.Addr]bool) []netip.Addr {
	cluster := Cluster(p)
	var own []netip.Addr
	take := func(a netip.Addr) {
		if cluster.Has(a) == nil && !taken[a] {
			own = append(own, a)
			taken[a] = true
		}
	}
	for _, vip := range p.VIPs.Ingress {
		first, ok := member.First(n, vip, netip.Addr{}, cluster.VIPs, p.MachineNetworks)
		if !ok {
			continue
		}
		take(first)
		if slices.Contains(n.InternalIPs, first) {
			continue
		}
		for most := len(own) + member.PerFamily - 1; ; {
			i := slices.IndexFunc(n.Annotated, func(a netip.Addr) bool { return a.BitLen() == vip.BitLen() && cluster.Has(a) == nil && !taken[a] })
			if i < 0 || len(own) == most {
				break
			}
			take(n.Annotated[i])
		}
	}
	return own
}

// Cluster is what addresses are judged by.
func Cluster(p plan.Plan) notice.Cluster {
	return notice.Cluster{Machines: p.MachineNetworks, VIPs: p.VIPs.All()}
}
