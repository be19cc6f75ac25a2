// Package cluster is what the cluster has of provisioning, in virtual time: Ironic's pod, the nodes
// with their keepalived and DHCP servers, metal3, and the release of the workers.
package cluster

import (
	"github.com/onprem-infra/onprem-infra/cluster/dhcp"
	"github.com/onprem-infra/onprem-infra/cluster/vip/occupant"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/server"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/world"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// Cluster is the cluster's programs.
type Cluster struct {
	w        *world.World
	programs map[int]*server.Program // of DHCP, by node
	metal3   bool                    // its rounds have begun
}

// New is a cluster of which nothing runs.
func New(w *world.World) *Cluster {
	return &Cluster{w: w, programs: map[int]*server.Program{}}
}

// Started has a node's programs start, after it has joined or is ready again.
func (c *Cluster) Started(h *world.Host) {
	if h.Seat == nil || !h.Up {
		return
	}
	c.w.Soon(world.Woken, c.event(world.EvSeat, h))
	c.begin()
}

// event is an event of a node's programs, until the node is switched on or off again.
func (c *Cluster) event(kind world.EventKind, h *world.Host) world.Event {
	return world.Event{Kind: kind, Host: int16(h.Index), Gen: h.Seat.Lost}
}

// Seat starts the programs of a node that are about the provisioning address.
func (c *Cluster) Seat(h *world.Host) {
	s := h.Seat
	if s.Server == nil {
		s.Server = &world.Server{Name: h.Plan.Name, Site: world.Site(h.Index),
			Phase: provision.Cluster, OpenShift: !c.w.Shared()}
	}
	s.Programs = true
	if c.w.Shared() {
		c.StartDHCP(h)
		s.Asks = true
		c.w.Soon(world.Woken, c.event(world.EvAsk, h))
	}
	if c.w.Pod.Node == h.Index { // its containers start again
		c.w.Pod.Gen++
		c.w.Soon(world.PodStarts, world.Event{Kind: world.EvPod, Gen: c.w.Pod.Gen})
	}
	c.begin()
}

// StartDHCP starts a node's DHCP program.
func (c *Cluster) StartDHCP(h *world.Host) {
	if !h.Seat.Programs || !c.w.Shared() {
		return
	}
	c.programs[h.Index] = server.Start(server.Options{World: c.w, Server: h.Seat.Server,
		Orders: func() orders.Orders {
			return dhcp.Orders(c.w.Plan, server.Links(c.w, h.Seat.Server), false)
		}})
	c.w.Soon(world.Woken, c.event(world.EvServer, h))
}

// KillDHCP kills a node's DHCP program.
func (c *Cluster) KillDHCP(h *world.Host) {
	if h.Seat.Server != nil && c.w.Shared() {
		server.Kill(c.w, h.Seat.Server)
		delete(c.programs, h.Index)
	}
}

// Round is a round of a node's DHCP program.
func (c *Cluster) Round(h *world.Host) {
	p := c.programs[h.Index]
	if p == nil || !h.Seat.Server.Program {
		return
	}
	if p.Round() != nil {
		c.w.After(world.Quiet, c.event(world.EvServer, h))
	}
	if c.w.Serves(h.Seat.Server) {
		c.w.Mark(schedule.Taken)
	}
}

// begin has Kubernetes start Ironic once all parts of the bootstrap machine are off. Until then
// OpenShift's operator is paused; on other clusters the user is asked to wait. The first start
// takes longer: objects are applied, and images fetched.
func (c *Cluster) begin() {
	w := c.w
	if w.Pod.Begun {
		return
	}
	joined := 0
	for _, h := range w.Hosts[:w.Nodes] {
		if h.HasJoined() {
			joined++
		}
	}
	early := w.Defect == schedule.TooEarly || w.Defect == schedule.Unwatched
	ready := w.Boot.Left && !w.Pod.Paused && !w.Pod.Stopped || early && joined > 0
	if !ready {
		return
	}
	span := world.ToCluster
	if w.Pod.Again {
		span = world.PodStarts
	}
	w.Pod.Begun, w.Pod.Again = true, true
	w.Soon(span, world.Event{Kind: world.EvPod, Gen: w.Pod.Gen})
}

// Phase follows a phase of the bootstrap machine. While that may have the address again, nodes
// that no longer ask which machine has it ask again.
func (c *Cluster) Phase() {
	c.begin()
	if !c.w.Shared() || c.w.Boot.Phase.Past(progress.Unpause) {
		return
	}
	for _, h := range c.w.Hosts[:c.w.Nodes] {
		if s := h.Seat; h.On && s.Programs && !s.Asks {
			s.Asks = true
			c.w.After(world.Nanoseconds(c.w.Random.Int64N(int64(occupant.Interval))),
				c.event(world.EvAsk, h))
		}
	}
}
