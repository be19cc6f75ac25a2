package vip

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// noRank is the rank of a node that has none. It counts as the last one.
const noRank = -1

// Claim is a rank that this node's Node should say. The zero value claims nothing.
type Claim struct {
	Node string
	Rank int
}

// place is a node's place among those of the control plane.
type place struct {
	rank int    // that counts now
	free int    // that it should claim; noRank for none
	full bool   // every rank is another node's
	dead string // if so: which of those nodes are dead, in words
}

// placed finds a node's place. A rank is theirs whose Nodes say so; of several the eldest has it
// and the others take another one, so that two who claim one in the same moment end with two. kept
// is the rank that this node had last: that of a Node which is made anew is still there for it.
// Nobody gives a rank up that nobody else has, whoever joins or leaves: a change of the priority is
// a reload, and may move a VIP.
func placed(self string, nodes []Node, kept string, ranks int) place {
	var me Node
	i := slices.IndexFunc(nodes, func(n Node) bool { return n.Name == self })
	if i >= 0 {
		me = nodes[i]
	}
	var dead []Node
	others, elders := map[int]bool{}, map[int]bool{}
	for _, n := range nodes {
		if rank, ok := notice.ReadRank(n.Rank, ranks); ok && n.Name != self {
			if !n.Down.IsZero() {
				dead = append(dead, n)
			}
			others[rank] = true
			elders[rank] = elders[rank] || n.elder(me)
		}
	}
	p := place{rank: noRank, free: noRank}
	if mine, ok := notice.ReadRank(me.Rank, ranks); ok && !elders[mine] {
		p.rank = mine
		return p
	}
	if former, ok := notice.ReadRank(kept, ranks); ok && !others[former] {
		p.rank, p.free = former, former
	}
	for rank := 0; rank < ranks && p.free == noRank; rank++ {
		if !others[rank] {
			p.free = rank
		}
	}
	if p.full = i >= 0 && p.free == noRank; i < 0 {
		p.free = noRank // there is no Node to write it on
	}
	for _, n := range dead {
		if p.full {
			p.dead += fmt.Sprintf("; Node %s, which has rank %s, has not been Ready since %s: if its machine does not come back, delete the Node",
				n.Name, n.Rank, n.Down.UTC().Format(time.RFC3339))
		}
	}
	return p
}

// elder says whether a Node was there before another one.
func (n Node) elder(o Node) bool {
	if !n.Created.Equal(o.Created) {
		return n.Created.Before(o.Created)
	}
	return n.Name < o.Name
}

// standing finds this node's place and remembers its rank. What it should claim it says only once
// the API has named the nodes: those of an earlier run may have changed theirs.
func (r *Room) standing(s Snapshot) Claim {
	ranks := len(r.ranks)
	if ranks == 0 {
		return Claim{}
	}
	nodes := ControlPlane(r.memory.Nodes)
	if name := r.Itself(s); name != "" {
		r.self = name
	}
	r.place = placed(r.self, nodes, r.memory.Rank, ranks)
	if r.place.rank != noRank {
		r.memory.Rank = notice.EncodeRank(r.place.rank)
	}
	if r.place.free == noRank || !r.named {
		return Claim{}
	}
	return Claim{Node: r.self, Rank: r.place.free}
}

// Itself is the name of this machine's Node: the one whose kubelet's credentials it has. Only where
// they name none it goes by addresses, and there a control plane node by those of the control plane
// alone: any kubelet can write any address on its own Node.
func (r *Room) Itself(s Snapshot) string {
	if s.Self != "" {
		return s.Self
	}
	nodes := s.Nodes.Is
	if len(nodes) == 0 {
		nodes = r.memory.Nodes
	}
	if r.role == role.Master {
		nodes = ControlPlane(nodes)
	}
	return Self(nodes, s.Links, r.vips())
}

// ControlPlane are those nodes of a list that are of the control plane.
func ControlPlane(nodes []Node) []Node {
	return slices.DeleteFunc(slices.Clone(nodes), func(n Node) bool { return !n.ControlPlane })
}

// Self is the name of the Node that has an address of this machine's; of several the youngest, as
// the machine may have had another name before. It is empty when there is none, as while an address
// is replaced. What the network plugin saw on a host counts only where no Node has an own address
// that is here: it may have seen what has moved here since. No VIP tells who a machine is.
func Self(nodes []Node, links addr.Snapshot, vips []netip.Addr) string {
	own := map[netip.Addr]bool{}
	for _, l := range links.Links {
		for _, a := range l.Addresses {
			own[a.Prefix.Addr()] = !slices.Contains(vips, a.Prefix.Addr())
		}
	}
	youngest := func(addresses func(Node) []netip.Addr) (me Node) {
		for _, n := range nodes {
			here := slices.ContainsFunc(addresses(n), func(a netip.Addr) bool { return own[a] })
			if here && (me.Name == "" || me.elder(n)) {
				me = n
			}
		}
		return me
	}
	if me := youngest(func(n Node) []netip.Addr { return n.InternalIPs }); me.Name != "" {
		return me.Name
	}
	return youngest(func(n Node) []netip.Addr { return n.Annotated }).Name
}

// rank is this node's in an election: for the API's and that of DNS it has been claimed, and for
// the ingress VIP, where there may be more nodes than ranks, it follows from an address. One rank
// counts for all VIPs of an election.
func (r *Room) rank(e election.Election, s Snapshot) (rank int, why string) {
	switch {
	case len(e.Scheme.Ranks) == 0:
		return noRank, ""
	case e.Kind != vrrp.Ingress && r.place.rank == noRank:
		return noRank, ", without a rank yet"
	case e.Kind != vrrp.Ingress:
		return r.place.rank, fmt.Sprintf(", rank %d", r.place.rank)
	}
	choose := func(v election.VIP) (addr.Choice, error) { return r.choose(e, v, s) }
	if rank, ok := e.AddressRank(choose); ok {
		return rank, fmt.Sprintf(", rank %d by its address", rank)
	}
	return noRank, ""
}

// bonus adds the tracked file that gives an instance's holder its bonus, and names it; nothing in
// elections without one.
func (r *Room) bonus(
	e election.Election, instance vrrp.InstanceName, c *keepalived.Config,
) []vrrp.CheckName {
	if e.Scheme.Holder == 0 {
		return nil
	}
	short := strings.ToLower(strings.TrimPrefix(string(instance), r.plan.Cluster.Name+"_"))
	track := keepalived.Track{
		Name: vrrp.CheckName("holder_" + short), Weight: e.Scheme.Holder,
		File: keepalived.Path(election.RunDir + "/" + supervised.HolderTrack(string(instance))),
	}
	c.Tracks = append(c.Tracks, track)
	return []vrrp.CheckName{track.Name}
}
