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

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/addr/peer"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// Node is what the list depends on of a Node.
type Node struct {
	addr.Candidate
	Ready        bool // its kubelet works
	ControlPlane bool
	NoVIP        bool // it never holds a VIP: an arbiter, or a worker in another network

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
	list, worth, taken := []notice.Candidate{}, map[string]int{}, map[netip.Addr]bool{}
	for _, n := range slices.SortedFunc(slices.Values(nodes), byName) {
		if n.NoVIP {
			continue
		}
		own := addresses(p, n.Candidate, taken)
		if len(own) == 0 {
			continue
		}
		list = append(list, notice.Candidate{Name: n.Name, Addresses: own})
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

// addresses are those from which a node may advertise the ingress VIPs: for each family the one by
// which peers know it. If only its network plugin knows that one, the others in that network count
// too, as the node may use any of them. An address of an earlier node is left out: two machines
// with one address must not make the list invalid.
func addresses(p plan.Plan, n addr.Candidate, taken map[netip.Addr]bool) []netip.Addr {
	cluster := Cluster(p)
	var own []netip.Addr
	take := func(a netip.Addr) {
		if cluster.Has(a) == nil && !taken[a] {
			own = append(own, a)
			taken[a] = true
		}
	}
	for _, vip := range p.VIPs.Ingress {
		first, ok := peer.First(n, vip, netip.Addr{}, cluster.VIPs, p.MachineNetworks)
		if !ok {
			continue
		}
		take(first)
		if slices.Contains(n.InternalIPs, first) {
			continue
		}
		for most := len(own) + peer.PerFamily - 1; ; {
			i := slices.IndexFunc(n.Annotated, func(a netip.Addr) bool {
				return a.BitLen() == vip.BitLen() && cluster.Has(a) == nil && !taken[a]
			})
			if i < 0 || len(own) == most {
				break
			}
			take(n.Annotated[i])
		}
	}
	return own
}

// Cluster is what makes an address valid.
func Cluster(p plan.Plan) notice.Cluster {
	return notice.Cluster{Machines: p.MachineNetworks, VIPs: p.VIPs.All()}
}
