package member

import (
	"fmt"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/notice"
)

// NoRank is the rank of a node that has none. It counts as the last one.
const NoRank = -1

// Claim is a rank that a node claims on its own Node. The zero value claims nothing.
type Claim struct {
	Node string
	Rank int
}

// Place is a control plane node's place in the order of ranks.
type Place struct {
	Node string // its name; empty while it is not known
	Rank int    // in force; NoRank for none
	Free int    // to be claimed; NoRank for none
	Full bool   // other nodes have every rank
	// Dead names the nodes that have a rank and are not ready, if Full.
	Dead string
}

// PlaceOf finds the place of the node of a name. A rank belongs to the oldest node that claims it;
// the others claim another one, so that two nodes that claim one rank at once end with two. kept is
// the rank that the node had last: a Node that is created anew gets it again. A node keeps a rank
// that no other node has, whichever nodes join or leave: a change of the priority is a reload, and
// may move a VIP.
func PlaceOf(self string, nodes []Node, kept string, ranks int) Place {
	var own Node
	i := slices.IndexFunc(nodes, func(n Node) bool { return n.Name == self })
	if i >= 0 {
		own = nodes[i]
	}
	taken, older := map[int]bool{}, map[int]bool{}
	for _, n := range nodes {
		if rank, ok := notice.ReadRank(n.Rank, ranks); ok && n.Name != self {
			taken[rank] = true
			older[rank] = older[rank] || n.older(own)
		}
	}
	p := Place{Node: self, Rank: NoRank, Free: NoRank}
	if mine, ok := notice.ReadRank(own.Rank, ranks); ok && !older[mine] {
		p.Rank = mine
		return p
	}
	if former, ok := notice.ReadRank(kept, ranks); ok && !taken[former] {
		p.Rank, p.Free = former, former
	}
	for rank := 0; rank < ranks && p.Free == NoRank; rank++ {
		if !taken[rank] {
			p.Free = rank
		}
	}
	if i < 0 {
		p.Free = NoRank // there is no Node to write it on
	} else if p.Free == NoRank {
		p.Full, p.Dead = true, dead(self, nodes, ranks)
	}
	return p
}

// dead names the other nodes that have a rank and are not ready.
func dead(self string, nodes []Node, ranks int) (text string) {
	for _, n := range nodes {
		if _, ranked := notice.ReadRank(n.Rank, ranks); ranked && n.Name != self &&
			!n.Down.IsZero() {
			text += fmt.Sprintf("; Node %s, which has rank %s, has not been Ready since %s: "+
				"if its machine does not come back, delete the Node",
				n.Name, n.Rank, n.Down.UTC().Format(time.RFC3339))
		}
	}
	return text
}
