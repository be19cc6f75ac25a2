package host

import (
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/world"
)

// behind are the indices in Checks of those that cannot pass when what serves a VIP has ended.
func behind(v schedule.VIP) []int {
	if v == schedule.Ingress {
		return []int{2}
	}
	return []int{0, 1}
}

// serves reports whether one of these checks still passes.
func serves(h *world.Host, v schedule.VIP) bool {
	for _, i := range behind(v) {
		if h.Checks[i].Passes {
			return true
		}
	}
	return false
}

// watchPorts has the monitor of a node probe the ports behind its VIPs, if they have closed.
func watchPorts(w *world.World, h *world.Host) {
	if h.Index == 0 || w.Defect == schedule.Waiting {
		return
	}
	for _, v := range schedule.VIPs() {
		if l := &h.Behind[v]; !l.Pending && w.Announces(h.Index, v) && h.Closed(v) && serves(h, v) {
			l.Pending = true
			every := health.Closed().Interval
			w.After(every-(w.Now-h.Checks[0].Phase)%every, probe(h, int(v), world.EvPorts))
		}
	}
}

// Ports is a probe of the ports behind a VIP.
func Ports(w *world.World, h *world.Host, v schedule.VIP) {
	l, p := &h.Behind[v], health.Closed()
	l.Pending = false
	if !h.Closed(v) || !serves(h, v) {
		l.Closed = 0
		return
	}
	if l.Closed++; l.Closed < p.Fall {
		l.Pending = true
		w.After(p.Interval, probe(h, int(v), world.EvPorts))
		return
	}
	l.Closed = 0
	for _, i := range behind(v) {
		h.Checks[i].Latch = health.Latch{}
	}
	Wish(w, h)
	Observe(w, h)
}
