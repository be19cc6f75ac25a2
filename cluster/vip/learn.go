package vip

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

const (
	// bootstrapSilence is how long the bootstrap machine's beat may stand before it counts as gone
	// for now.
	bootstrapSilence = 2 * time.Minute
	// reign is how long a node must have held the API VIP to know that no bootstrap machine speaks:
	// every one of them outranks every node. It is longer than one needs to hear of a node that has
	// just begun to speak.
	reign = time.Minute
)

// bootstrap is what is known of the bootstrap machine.
type bootstrap struct {
	seen  bool // it has published an address while this program ran
	beat  string
	since time.Time // of the beat
	now   []netip.Addr
}

// learn takes what the API says into the memory; an address that a node has lost goes on to count
// for a moment. It never takes less from it than was there: an API that names no node at all, or
// none of the control plane, has lost them or has not read them yet.
func (r *Room) learn(s Snapshot) {
	if s.Nodes.OK && slices.ContainsFunc(s.Nodes.Is, func(n Node) bool { return n.ControlPlane }) {
		r.past.Note(plain(r.memory.Nodes), plain(s.Nodes.Is), s.At)
		r.memory.Nodes, r.named = s.Nodes.Is, true
	}
	if s.Candidates.OK {
		r.memory.Candidates = s.Candidates.Is
	}
	r.follow(s)
	r.reigns(s)
	// An instance that runs was let through the gate by an earlier run, whose memory may be lost.
	r.first = r.founds()
	runs := slices.ContainsFunc(election.Names(r.plan, vrrp.API), func(name vrrp.InstanceName) bool {
		_, runs := s.Status.Instances[string(name)]
		return runs && s.Status.PID != 0
	})
	r.memory.Open = r.memory.Open || r.first || s.Served || runs
}

// follow keeps up with the bootstrap machine. Its beat is measured by this machine's clock, so a
// machine that died is no peer for ever. That its object is lost says nothing of the machine: it
// may hold the VIP yet, and a node that is deaf to it would hold the VIP beside it.
func (r *Room) follow(s Snapshot) {
	if !s.Bootstrap.OK {
		return
	}
	b := s.Bootstrap.Is
	if len(b.Addresses) == 0 {
		r.memory.BootstrapGone = r.memory.BootstrapGone || b.Left
		r.boot.now = nil
		return
	}
	if b.Beat != r.boot.beat || !r.boot.seen {
		r.boot.beat, r.boot.since = b.Beat, s.At
	}
	r.boot.seen, r.boot.now = true, b.Addresses
	if s.At.Sub(r.boot.since) >= bootstrapSilence {
		r.boot.now = nil
	}
}

// reigns notes since when this node has held what.
func (r *Room) reigns(s Snapshot) {
	r.reigned = false
	for _, name := range election.Names(r.plan, vrrp.API) {
		if s.Status.Instances[string(name)].State != supervised.Master {
			delete(r.held, name)
			continue
		}
		if _, held := r.held[name]; !held {
			r.held[name] = s.At
		}
		if s.At.Sub(r.held[name]) >= reign {
			r.reigned, r.memory.BootstrapGone = true, true
		}
	}
}

// tells names this machine's Node if that is to say that the bootstrap machine is gone: this node
// has seen so, and nothing at all is said of that machine, as in a cluster that was made by other
// programs. What is said and not believed is no answer.
func (r *Room) tells(s Snapshot) string {
	if r.reigned && s.Bootstrap.OK && len(s.Bootstrap.Is.Addresses) == 0 && !s.Bootstrap.Is.Left {
		return r.Itself(s)
	}
	return ""
}

// mostGuests bounds the bootstrap machine's addresses of one family: it has one for the API's VIP,
// and may have another one for DNS.
const mostGuests = 2

// guests are the bootstrap machine's addresses that may be peers for a VIP: of its family, in a
// machine network, and nobody else's. Whoever may write the object could otherwise have adverts
// sent anywhere. It never holds the ingress VIP.
func (r *Room) guests(e election.Election, v election.VIP, self netip.Addr) []netip.Addr {
	if e.Kind == vrrp.Ingress {
		return nil
	}
	all := slices.DeleteFunc(slices.Clone(r.boot.now), func(a netip.Addr) bool {
		near := slices.ContainsFunc(r.plan.MachineNetworks, func(p netip.Prefix) bool { return p.Contains(a) })
		return !near || a.BitLen() != v.Address.BitLen() || a == self || slices.Contains(r.vips(), a)
	})
	return all[:min(len(all), mostGuests)]
}

func (r *Room) controlPlane() []addr.Node {
	return plain(ControlPlane(r.memory.Nodes))
}

func (r *Room) workers() []addr.Node {
	all := slices.Clone(r.memory.Nodes)
	return plain(slices.DeleteFunc(all, func(n Node) bool { return n.ControlPlane }))
}

func plain(nodes []Node) []addr.Node {
	out := make([]addr.Node, len(nodes))
	for i, n := range nodes {
		out[i] = n.Node
	}
	return out
}

// vips are every VIP of the cluster: none of them is ever an address of a machine's own.
func (r *Room) vips() []netip.Addr { return r.plan.VIPs.All() }

func join(addrs []netip.Addr) string {
	texts := make([]string, len(addrs))
	for i, a := range addrs {
		texts[i] = a.String()
	}
	return strings.Join(texts, " ")
}
