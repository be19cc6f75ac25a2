package world

import (
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/trace"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Host is one machine.
type Host struct {
	identity
	programs

	On         bool // it has power
	Boots      uint32
	Joined     bool   // it runs what a node runs, or is the bootstrap machine
	Listed     bool   // the API has its Node, or its notice
	Knows      []bool // hosts, by their index, from the API or its notice
	Links      links
	Served     bool // it has seen the API work: the gate
	Router     Router
	Supervisor supervisor
	Release    bootstrapRelease

	Film trace.Film
}

// identity is what a host is in the cluster.
type identity struct {
	Index   int
	Name    string
	Address netip.Addr
	Role    role.Role
	Rank    int
	Number  int // among the nodes, masters first
}

// programs are what runs on a host beside keepalived and its supervisor.
type programs struct {
	API     Server
	LB      balancer
	MCS     bool
	Route   ingress
	DNS     bool // its name server answers
	Checks  []check
	Monitor bool // it makes the checks
	Beats   uint32
}

// ingress is a node's ingress router. Standard means that it is the cluster's default one.
type ingress struct{ Has, On, Ready, Standard bool }

// newHost is a host by its index in the cluster's names.
func newHost(w *World, index int, name string) *Host {
	n := index
	if w.Bootstrap {
		n--
	}
	address := netip.AddrFrom4([4]byte{192, 0, 2, byte(10 + index)})
	h := &Host{identity: identity{index, name, address, role.Master, n, n}}
	switch {
	case n < 0:
		h.Role = role.Bootstrap
	case n >= w.Masters:
		h.Role = role.Worker
	}
	if w.Kind == vrrp.Ingress {
		h.Rank = w.Candidates().Spread(h.Address)
	}
	h.Knows, h.LB.Servers = make([]bool, len(w.Cluster.Hosts())), make([]Backend,
		len(w.Cluster.Hosts()))
	h.Router.MasterSince, h.Router.ReceivedAt, h.Router.ResumedAt = -1, -1, -schedule.MaxLength
	h.Film.Host, h.Film.Role = name, h.Role
	h.Supervisor.Container.ByPodman = h.Role == role.Bootstrap
	if h.Role != role.Bootstrap {
		for _, weight := range w.Candidates().Weights {
			policy := w.Timing.Checks[weight.Check]
			h.Checks = append(h.Checks, check{Weight: weight, Policy: policy})
			h.Film.Names = append(h.Film.Names, weight.Check)
		}
		h.Film.Checks = make([][]trace.Stretch, len(h.Checks))
	}
	return h
}

// IsCandidate reports whether a host is a candidate in the simulated election. If candidates have
// ranks, a node whose rank does not exist is none.
func (w *World) IsCandidate(h *Host) bool {
	if w.Kind == vrrp.Ingress {
		return h.Role != role.Bootstrap
	}
	return h.Role == role.Bootstrap || h.Role == role.Master && w.Candidates().Places(h.Rank)
}

// Elects reports whether a host knows enough nodes to elect a holder. A control plane of two may
// have one node for a while.
func (w *World) Elects(h *Host) bool { return vrrp.Elects(w.NodesKnown(h), w.Masters <= 2) }

// NodesKnown is the number of nodes that a host knows.
func (w *World) NodesKnown(h *Host) (n int) {
	for _, other := range w.Hosts {
		if other.Role != role.Bootstrap && h.Knows[other.Index] {
			n++
		}
	}
	return n
}

// Advertises is the host's router with a priority, as its adverts show it.
func (h *Host) Advertises(priority int) vrrp.Router {
	return vrrp.Router{Priority: vrrp.Priority(priority), Address: h.Address}
}

// Outranks reports whether a host wins against another by priority and address.
func Outranks(a, b *Host) bool {
	return a.Advertises(a.Router.Priority).Outranks(b.Advertises(b.Router.Priority))
}

// RankSpread is the difference between the best and the worst rank.
func (w *World) RankSpread() int {
	c := w.Candidates()
	return c.Rank(0) - c.Rank(len(c.Ranks)-1)
}
