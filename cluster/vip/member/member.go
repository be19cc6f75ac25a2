// Package member describes the nodes of a cluster as the API names them: which of them is this one,
// and which rank each of them claims.
package member

import (
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/addr/peer"
	"github.com/onprem-infra/onprem-infra/shared/notice"
)

// Node is a node of the cluster.
type Node struct {
	addr.Candidate
	ControlPlane bool `json:"controlPlane"`

	// Rank is the rank that the Node claims, as it is written there, and Created is when the Node
	// was created. Both are empty where there are no ranks.
	Rank    string    `json:"rank,omitempty"`
	Created time.Time `json:"created,omitzero"`
	// Down is since when the kubelet has not been ready, where there are ranks; zero if it is.
	Down time.Time `json:"-"`

	// Rack is the name of its rack by its label; empty for none.
	Rack string `json:"-"`
	// Apart: an administrator keeps VIPs away from it, by a label.
	Apart bool `json:"-"`
	// NoVIP: it never holds a VIP, as an arbiter, or a worker in another network.
	NoVIP bool `json:"-"`
	// Intent is what the Node announces about its VRRP timing and mode.
	Intent notice.Intent `json:"-"`
	// State is the Machine Config Operator's annotation; empty where there is none.
	State string `json:"-"`
	// Kubelet is the version of the kubelet.
	Kubelet string `json:"-"`
	// ClientsKey is for reports of the clients of its VIPs; empty for none.
	ClientsKey string `json:"-"`
}

// Same compares what a later start of the monitor must know of two nodes.
func (n Node) Same(o Node) bool {
	return n.Equal(o.Candidate) && n.ControlPlane == o.ControlPlane && n.Rank == o.Rank &&
		n.Created.Equal(o.Created)
}

// older reports whether a Node was created before another one.
func (n Node) older(o Node) bool {
	if !n.Created.Equal(o.Created) {
		return n.Created.Before(o.Created)
	}
	return n.Name < o.Name
}

// ControlPlane are the control plane nodes of a list.
func ControlPlane(nodes []Node) []Node {
	return slices.DeleteFunc(slices.Clone(nodes), func(n Node) bool { return !n.ControlPlane })
}

// Workers are the other nodes of a list.
func Workers(nodes []Node) []Node {
	return slices.DeleteFunc(slices.Clone(nodes), func(n Node) bool { return n.ControlPlane })
}

// Plain are nodes as shared rooms know them.
func Plain(nodes []Node) []addr.Candidate {
	out := make([]addr.Candidate, len(nodes))
	for i, n := range nodes {
		out[i] = n.Candidate
	}
	return out
}

// Named is the Node of a name; ok is false if that is not among the nodes.
func Named(nodes []Node, name string) (n Node, ok bool) {
	i := slices.IndexFunc(nodes, func(n Node) bool { return n.Name == name })
	if i < 0 {
		return Node{}, false
	}
	return nodes[i], true
}

// Self is the name of the Node that has an address of this machine; empty if there is none, as
// while an address is replaced. Of several it is the youngest: the machine may have had another
// name before. An address that the network plugin has annotated counts only if no Node has an
// InternalIP that is here: the address may have moved here since. A VIP identifies no machine.
func Self(nodes []Node, links addr.Snapshot, vips []netip.Addr) string {
	own := map[netip.Addr]bool{}
	for _, l := range links.Links {
		for _, a := range l.Addresses {
			own[a.Prefix.Addr()] = !slices.Contains(vips, a.Prefix.Addr())
		}
	}
	youngest := func(addresses func(Node) []netip.Addr) (self Node) {
		for _, n := range nodes {
			here := slices.ContainsFunc(addresses(n), func(a netip.Addr) bool { return own[a] })
			if here && (self.Name == "" || self.older(n)) {
				self = n
			}
		}
		return self
	}
	if self := youngest(func(n Node) []netip.Addr { return n.InternalIPs }); self.Name != "" {
		return self.Name
	}
	return youngest(func(n Node) []netip.Addr { return n.Annotated }).Name
}

// History is what nodes were until a moment ago: all of them, those of the control plane alone, and
// those of the list of ingress candidates.
type History struct{ All, ControlPlane, Listed peer.History }

// Note records a change of the nodes, and reports whether one of them has gone.
func (h *History) Note(before, now []Node, at time.Time) bool {
	all := h.All.Note(Plain(before), Plain(now), at)
	return h.ControlPlane.Note(Plain(ControlPlane(before)), Plain(ControlPlane(now)), at) || all
}

// NoteList records a change of the list of ingress candidates, and reports whether one has left it.
func (h *History) NoteList(before, now []notice.Candidate, at time.Time) bool {
	return h.Listed.Note(listed(before), listed(now), at)
}

func listed(candidates []notice.Candidate) []addr.Candidate {
	out := make([]addr.Candidate, len(candidates))
	for i, c := range candidates {
		out[i] = addr.Candidate{Name: c.Name, InternalIPs: c.Addresses}
	}
	return out
}
