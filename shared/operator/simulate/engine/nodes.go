package engine

import (
	"github.com/onprem-infra/onprem-infra/shared/addr/peer"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/balancer"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/supervisor"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// join starts a master that was not there before.
func join(w *world.World, h *world.Host) {
	if h.Joined {
		return
	}
	h.Joined = true
	startAll(w, h)
	register(w, h)
}

// register has the kubelet create its Node.
func register(w *world.World, h *world.Host) {
	w.StartPart(h, world.PartNode, w.Take(world.BootPods))
}

// publishNode sends a Node that is new or gone to all hosts that run, and the other Nodes to a new
// one.
func publishNode(w *world.World, h *world.Host, there bool) {
	for _, other := range w.Hosts {
		if !other.Joined && other != h {
			continue
		}
		learns := func(to, of *world.Host) {
			after := w.Take(world.Watches)
			if !there && to != of {
				after += peer.Gone
			}
			w.After(after, to.Event(world.EvLearn, 0).About(of.Index).If(there))
		}
		learns(other, h)
		if there && other != h && other.Listed {
			learns(h, other)
		}
	}
}

// removeNode deletes the Node of a host that leaves the cluster.
func removeNode(w *world.World, h *world.Host) {
	if !h.Joined {
		return
	}
	h.Joined, h.Listed = false, false
	publishNode(w, h, false)
}

// passGate opens the eligibility gate of a node whose balancer has a server that works.
func passGate(w *world.World, h *world.Host, boot uint32) {
	if h.Served || !h.On || boot != h.Boots || !h.LB.On || !h.LB.AnyUp() {
		return
	}
	h.Served = true
	w.Note(h, "has seen the API work")
	supervisor.Restart(w, h, w.Take(world.Reloading))
}

// learn adds another node to the peers and servers of a host, or removes it.
func learn(w *world.World, h, other *world.Host, there bool) {
	if !h.On {
		return
	}
	b := &h.LB.Servers[other.Index]
	switch {
	case there && !h.Knows[other.Index]:
		h.Knows[other.Index] = true
		if h.Role == role.Master && other.Role == role.Master && h.LB.On {
			*b = world.Backend{Known: true, Phase: w.Between(0, w.Timing.Server.Inter)}
			balancer.FirstProbe(w, h, other)
		}
		if !h.Router.Runs && !h.Supervisor.Stopped && h.Joined && supervisor.Eligible(w, h) {
			supervisor.Restart(w, h, w.Take(world.Reloading))
		}
	case !there && h == other:
		supervisor.Release(w, h, schedule.Fault{}, true)
		clear(h.Knows)
	case !there:
		h.Knows[other.Index] = false
		*b = world.Backend{}
	}
}
