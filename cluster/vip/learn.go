package vip

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/shared/addr/peer"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan/speaks"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// learn takes the API's answers into the memory. An address that a node has lost still counts for a
// while. An API that names no control plane node takes none away: it has lost them or has not read
// them yet.
func (r *Room) learn(s Snapshot) {
	before := r.memory.Nodes
	if s.Nodes.OK && len(member.ControlPlane(s.Nodes.Is)) > 0 {
		r.memory.Nodes, r.named = s.Nodes.Is, true
	}
	gone := r.past.Note(before, r.memory.Nodes, s.At)
	if own, ok := member.Named(s.Nodes.Is, r.findSelf(s)); ok {
		r.memory.Rack, r.memory.Apart = own.Rack, own.Apart
	}
	list := r.memory.Candidates
	if s.Candidates.OK {
		r.memory.Candidates = s.Candidates.Is
	}
	if r.past.NoteList(list, r.memory.Candidates, s.At) || gone {
		r.options.After(peer.Gone + time.Millisecond) // what has left is no peer any more then
	}
	instances := election.Names(r.plan, vrrp.API)
	left := s.Bootstrap.OK && r.boot.Update(s.Bootstrap.Is, s.At)
	left = r.boot.NoteHolding(instances, s.Status, s.At) || left
	r.memory.BootstrapGone = r.memory.BootstrapGone || left
	// The first node of a cluster holds the VIP until the API names a control plane node. That is
	// not kept: after a restart another node may hold the VIP.
	if f := r.options.Founding; f != nil {
		r.first = len(r.memory.Nodes) == 0 && f.First()
		if len(r.memory.Nodes) > 0 {
			f.End()
		}
	}
	// The gate of an instance that runs was opened by an earlier run, whose memory may be lost.
	runs := slices.ContainsFunc(instances, s.runs)
	r.memory.Open = r.memory.Open || r.first || s.Served || runs
}

// claim finds this node's place and keeps its rank, also if only the plan to come has ranks. The
// node claims only once the API has named the nodes, which may have changed their ranks.
func (r *Room) claim(s Snapshot) member.Claim {
	ranks := cmp.Or(speaks.Ranks(r.plan), speaks.Ranks(r.options.Migration.Plan()))
	if ranks == 0 {
		return member.Claim{}
	}
	self := cmp.Or(r.findSelf(s), r.place.Node)
	r.place = member.PlaceOf(self, member.ControlPlane(r.memory.Nodes), r.memory.Rank, ranks)
	if r.place.Rank != member.NoRank {
		r.memory.Rank = notice.EncodeRank(r.place.Rank)
	}
	if r.place.Free == member.NoRank || !r.named {
		return member.Claim{}
	}
	return member.Claim{Node: self, Rank: r.place.Free}
}

// findSelf is the name of this machine's Node: the one that its kubelet's credentials name. If they
// name none it is found by its addresses. A control plane node is looked up among the control plane
// nodes only: any kubelet can write any address on its own Node.
func (r *Room) findSelf(s Snapshot) string {
	nodes := s.Nodes.Is
	if len(nodes) == 0 {
		nodes = r.memory.Nodes
	}
	if r.options.Role == role.Master {
		nodes = member.ControlPlane(nodes)
	}
	return cmp.Or(s.Self, member.Self(nodes, s.Links, r.plan.VIPs.All()))
}

// elections are those in which this node may be a candidate. That of the API is closed if the
// bootstrap machine has gone and the API has named the nodes since this program started: the list
// of an earlier run may lack the holder of the VIP, and the API would come through it.
func (r *Room) elections() []election.Election {
	all := election.For(r.plan, r.options.Role)
	for i := range all {
		e := &all[i]
		e.Past.Nodes = &r.past.ControlPlane
		e.Nodes = member.Plain(member.ControlPlane(r.memory.Nodes))
		switch {
		case e.Kind == vrrp.Provisioning:
			e.Closed = r.named
		case e.Kind != vrrp.Ingress:
			e.Alone, e.Closed = r.first && e.Kind == vrrp.API, r.memory.BootstrapGone && r.named
		case WatchesAll(r.plan):
			workers := member.Plain(member.Workers(r.memory.Nodes))
			e.Past.Nodes, e.Nodes, e.Closed = &r.past.All, append(e.Nodes, workers...), true
		default:
			e.Candidates, e.Past.Candidates = r.memory.Candidates, &r.past.Listed
			e.Closed = true
		}
	}
	return all
}

// bootstrapPeers are the bootstrap machine's addresses that are peers for a VIP, if it has a router
// in the election's group.
func (r *Room) bootstrapPeers(e election.Election, v election.VIP, self netip.Addr) []netip.Addr {
	if !e.Bootstraps() {
		return nil
	}
	return r.boot.Peers(v.Address, r.plan.MachineNetworks, append(r.plan.VIPs.All(), self))
}
