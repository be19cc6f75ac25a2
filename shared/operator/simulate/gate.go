package simulate

import (
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// mayBeServed has the node see soon that the API works behind its balancer.
func (w *world) mayBeServed(h *host) {
	if !h.served {
		w.after(w.between(0, health.GateInterval), event{kind: evServed, host: int8(h.index), gen: h.boots})
	}
}

func (w *world) seeServed(h *host, boot uint32) {
	if h.served || !h.on || boot != h.boots {
		return
	}
	for i := range h.lb.servers {
		if b := &h.lb.servers[i]; h.lb.on && b.known && b.up {
			h.served = true
			w.note(h, "has seen the API work")
			w.restart(h, w.some(reloading))
			return
		}
	}
}

// mayStand says whether a host is to have its instance: the bootstrap machine has it until it has
// given the VIP up, a master when it has seen the API work, its own Node is among those that it
// knows, and it is not alone.
func (w *world) mayStand(h *host) bool {
	switch {
	case !w.stands(h) || !h.joined || h.knows&(1<<h.index) == 0:
		return false
	case h.role == role.Bootstrap:
		return h.release.holds()
	case w.Kind == vrrp.Ingress:
		return true
	default:
		return (h.served || w.Ungated) && w.elects(h)
	}
}

// learn is the API's word of another node, which becomes a peer and a server, or is none any more.
// It reaches every host at its own time.
func (w *world) learn(h, other *host, there bool) {
	if !h.on {
		return
	}
	bit := uint64(1) << other.index
	b := &h.lb.servers[other.index]
	switch {
	case there && h.knows&bit == 0:
		h.knows |= bit
		if h.role == role.Master && other.role == role.Master && h.lb.on {
			*b = behind{known: true, phase: w.between(0, w.Timing.Server.Inter)}
			w.firstLook(h, other)
		}
		if !h.router.runs && !h.supervisor.left && h.joined && w.mayStand(h) {
			w.restart(h, w.some(reloading))
		}
	case !there && h == other:
		w.leave(h, Fault{}, true)
		h.knows = 0
	case !there:
		h.knows &^= bit
		*b = behind{}
	}
}
