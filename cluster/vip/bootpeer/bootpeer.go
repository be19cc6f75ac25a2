// Package bootpeer follows the bootstrap machine: whether it is a VRRP peer of the control plane
// nodes, and whether it has released the VIPs for good.
package bootpeer

import (
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

const (
	// StaleAfter is how long the heartbeat may stand still before the machine is no peer for now.
	StaleAfter = 2 * time.Minute
	// ProofAfter is how long a node must have held the API VIP to know that no bootstrap machine
	// advertises: every bootstrap machine outranks every node. It is longer than a bootstrap
	// machine needs to learn of a node that has just begun to advertise.
	ProofAfter = time.Minute
	// maxPeers bounds the addresses of one family: one for the API VIP, one for the DNS VIP.
	maxPeers = 2
)

// Published is what the bootstrap machine has published in the cluster. The zero value is nothing.
type Published struct {
	Left      bool // it has released the VIPs for good
	Addresses []netip.Addr
	Beat      string // changes while the machine runs
}

// State is what a node knows of the bootstrap machine. The zero value knows nothing.
type State struct {
	seen      bool // an address was published while this program ran
	beat      string
	since     time.Time // of the beat
	addresses []netip.Addr

	holding map[vrrp.InstanceName]time.Time // since when this node has held each API VIP
	proven  bool                            // it has held one for ProofAfter
}

// Update takes in what is published. left reports whether the machine has released the VIPs for
// good. The heartbeat is measured by the local clock. A lost object proves nothing: the machine may
// hold the VIP still, and a node that drops its adverts would hold the VIP beside it.
func (s *State) Update(p Published, at time.Time) (left bool) {
	if len(p.Addresses) == 0 {
		s.addresses = nil
		return p.Left
	}
	if p.Beat != s.beat || !s.seen {
		s.beat, s.since = p.Beat, at
	}
	s.seen, s.addresses = true, p.Addresses
	if at.Sub(s.since) >= StaleAfter {
		s.addresses = nil
	}
	return false
}

// NoteHolding takes in the states of the API's instances. proven reports whether this node has held
// one for so long that no bootstrap machine can advertise.
func (s *State) NoteHolding(
	names []vrrp.InstanceName, status supervised.Status, at time.Time,
) (proven bool) {
	if s.holding == nil {
		s.holding = map[vrrp.InstanceName]time.Time{}
	}
	s.proven = false
	for _, name := range names {
		if status.Instances[string(name)].State != supervised.Master {
			delete(s.holding, name)
			continue
		}
		if _, held := s.holding[name]; !held {
			s.holding[name] = at
		}
		s.proven = s.proven || at.Sub(s.holding[name]) >= ProofAfter
	}
	return s.proven
}

// ShouldReport reports whether this node should write that the bootstrap machine is gone: it has
// proof, and nothing is published, as in a cluster that another program has made. What is published
// and invalid counts as unknown.
func (s *State) ShouldReport(p Published) bool {
	return s.proven && len(p.Addresses) == 0 && !p.Left
}

// IsPeer reports whether a bootstrap machine advertises with the nodes.
func (s *State) IsPeer() bool { return len(s.addresses) > 0 }

// Peers are the machine's addresses of a VIP's family, in the machine networks and not among
// others: the VIPs and the node's own address. A published address outside of the machine networks
// is never a peer: adverts would go wherever its writer wants.
func (s *State) Peers(vip netip.Addr, networks []netip.Prefix, others []netip.Addr) []netip.Addr {
	all := slices.DeleteFunc(slices.Clone(s.addresses), func(a netip.Addr) bool {
		contains := func(p netip.Prefix) bool { return p.Contains(a) }
		return a.BitLen() != vip.BitLen() || !slices.ContainsFunc(networks, contains) ||
			slices.Contains(others, a)
	})
	return all[:min(len(all), maxPeers)]
}
