package cluster

import (
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/ironic"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/world"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
)

// schedulable reports whether Kubernetes can start a pod on a node.
func (c *Cluster) schedulable(h *world.Host) bool {
	return h.Up && h.Seat.Programs && h.Links.Machine == 0 && c.w.API(world.Site(h.Index))
}

// Pod is the start of Ironic's pod, on the node where it was or on one that Kubernetes chooses.
func (c *Cluster) Pod() {
	w := c.w
	p := &w.Pod
	was := p.Node
	if p.Node < 0 || !c.schedulable(w.Hosts[p.Node]) || p.Forced {
		p.Node = c.choose()
	}
	p.Forced = false
	if p.Node < 0 {
		w.Soon(world.PodStarts, world.Event{Kind: world.EvPod, Gen: p.Gen})
		return
	}
	h := w.Hosts[p.Node]
	w.Note(h.Plan.Name, "runs the cluster's Ironic")
	if was != p.Node && was >= 0 && !w.Keeps {
		ironic.Forget(w, provision.Cluster)
	}
	p.Runs, h.Seat.Ironic, h.Ends = true, true, false
	c.evict()
	if !w.Shared() {
		s := h.Seat.Server
		c.setAddress(h, true)
		s.Running, s.Renews = true, true
		w.Mark(schedule.Taken)
	}
	ironic.Start(w, provision.Cluster)
	c.wake()
	if !c.metal3 {
		c.metal3 = true
		w.Soon(world.Polls, world.Event{Kind: world.EvMetal3})
	}
}

// choose is a node for the pod: another one than where it is, if it has to move; -1 for none.
func (c *Cluster) choose() int {
	var all []int
	for _, h := range c.w.Hosts[:c.w.Nodes] {
		if c.schedulable(h) && (!c.w.Pod.Forced || h.Index != c.w.Pod.Node) {
			all = append(all, h.Index)
		}
	}
	if len(all) == 0 {
		return -1
	}
	return all[c.w.Random.IntN(len(all))]
}

// stop ends a pod of Ironic on a node.
func (c *Cluster) stop(h *world.Host) {
	if !h.Seat.Ironic {
		return
	}
	h.Seat.Ironic = false
	if !c.w.Shared() {
		c.setAddress(h, false)
		h.Seat.Server.Running, h.Seat.Server.Renews = false, false
	}
	c.wake()
}

// evict ends the pods on nodes that Kubernetes reaches, and on which it no longer wants them.
func (c *Cluster) evict() {
	for _, h := range c.w.Hosts[:c.w.Nodes] {
		if h.Index != c.w.Pod.Node && c.schedulable(h) {
			c.stop(h)
			h.Ends = false
		}
	}
}

// Changed follows a change of a host's power or cables.
func (c *Cluster) Changed(h *world.Host) {
	w := c.w
	if h.Seat == nil {
		return
	}
	lost := !h.Up || h.Links.Machine > 0
	if w.Pod.Node == h.Index {
		if !h.Up {
			w.Pod.Runs = false
		}
		if lost {
			w.At(w.Now+w.Take(world.Misses)+world.Tolerates, world.Event{Kind: world.EvMissed,
				Gen: w.Pod.Gen})
		}
	} else if !lost {
		w.Soon(world.Polls, world.Event{Kind: world.EvMissed, Gen: w.Pod.Gen})
	}
	c.wake()
	c.Elect()
}

// Missed is Kubernetes' check of the pod's node: from one that it still misses the pod moves.
func (c *Cluster) Missed() {
	w := c.w
	c.evict()
	if w.Pod.Node < 0 {
		return
	}
	h := w.Hosts[w.Pod.Node]
	if c.schedulable(h) {
		return
	}
	h.Ends = true
	c.move()
}

// Kill ends Ironic, which starts again on its node, without its database if forgets.
func (c *Cluster) Kill(forgets bool) {
	p := &c.w.Pod
	if !p.Runs {
		return
	}
	p.Runs = false
	p.Gen++
	c.stop(c.w.Hosts[p.Node])
	if forgets {
		ironic.Forget(c.w, provision.Cluster)
	}
	c.w.Soon(world.Starts, world.Event{Kind: world.EvPod, Gen: p.Gen})
}

// Move has Kubernetes run Ironic on another node.
func (c *Cluster) Move() {
	if c.w.Pod.Runs {
		c.stop(c.w.Hosts[c.w.Pod.Node])
		c.move()
	}
}

// Stop is a person's command to end Ironic, as the product names it. The pod ends in order. If
// Kubernetes does not reach its node, the pod ends when the node is back.
func (c *Cluster) Stop() {
	w, p := c.w, &c.w.Pod
	p.Stopped, p.Paused = w.Shared(), !w.Shared()
	p.Begun, p.Runs, p.Forced = false, false, false
	p.Gen++
	if p.Node >= 0 {
		w.Note(w.Hosts[p.Node].Plan.Name, "is to end the cluster's Ironic")
		w.Hosts[p.Node].Ends = true
		if !w.Keeps {
			ironic.Forget(w, provision.Cluster)
		}
	}
	p.Node = -1
	w.Soon(world.Stops, world.Event{Kind: world.EvMissed, Gen: p.Gen})
}

// Restart is a person, or a program of the user's, that starts a stopped Ironic again.
func (c *Cluster) Restart() {
	c.w.Pod.Stopped, c.w.Pod.Paused = false, false
	c.begin()
}

func (c *Cluster) move() {
	p := &c.w.Pod
	p.Runs, p.Forced = false, true
	p.Gen++
	c.w.Soon(world.PodStarts, world.Event{Kind: world.EvPod, Gen: p.Gen})
}
