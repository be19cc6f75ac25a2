package simulate

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Outcome is what became of a request.
type Outcome string

// The outcomes, as the lab's clients have them.
const (
	Served  Outcome = "served"
	Refused Outcome = "refused"
	Late    Outcome = "late"  // no answer in the client's patience
	Reset   Outcome = "reset" // the connection was there, and went with the VIP
)

// Request is one request of the client.
type Request struct {
	At      time.Duration
	Outcome Outcome
	Host    string // that held the VIP for it; empty for nobody
}

// startClient begins the requests of a client, which asks for what an API server answers as long as
// it serves.
func (w *world) startClient() {
	if w.Client > 0 {
		w.at(w.between(0, w.Client), event{kind: evClient})
	}
}

func (w *world) ask() {
	h := w.neighbour
	r := Request{At: w.now, Outcome: w.outcome()}
	if r.Outcome != Late {
		r.Host = h.name
	}
	w.result.Requests = append(w.result.Requests, r)
	w.after(w.Client, event{kind: evClient})
}

// lost ends the requests that are open when a host loses the VIP.
func (w *world) resetRequests(h *host) {
	all := w.result.Requests
	for i := len(all) - 1; i >= 0 && w.now-all[i].At < requestTakes; i-- {
		if all[i].Host == h.name && all[i].Outcome == Served {
			all[i].Outcome = Reset
		}
	}
}

// outcome is that of a request that begins now.
func (w *world) outcome() Outcome {
	h := w.neighbour
	switch {
	case h == nil || !h.on || !h.router.vip || !h.links.in() || !h.links.out():
		return Late
	case w.Kind == vrrp.Ingress && !h.route.on:
		return Refused
	case w.Kind == vrrp.DNS && !h.dns:
		return Refused
	case w.lost(2*h.links.loss) || ms(2*h.links.delay) > patience:
		return Late // a SYN is repeated after a second
	case w.Kind != vrrp.API:
		return Served
	case !h.lb.redirect:
		return h.api.answer()
	case h.lb.hung:
		return Late
	case !h.lb.on:
		return Refused
	}
	return w.balance(h)
}

// answer is that of a server which is asked directly.
func (s server) answer() Outcome {
	switch {
	case !s.on:
		return Refused
	case s.hung:
		return Late
	default:
		return Served
	}
}

// balance is a request that goes through a balancer: servers that are up in turn, or all of them
// when none is, and another one when one cannot be reached.
func (w *world) balance(g *host) Outcome {
	open := !g.lb.anyUp()
	waited := time.Duration(0)
	for range health.Retries + 1 {
		h := w.nextServer(g, open)
		if h == nil {
			return Refused
		}
		away := g != h && (!reaches(g, h) || !reaches(h, g))
		if !away && h.api.on {
			g.lb.servers[h.index].errors = 0
			return h.api.answer()
		}
		if away {
			waited += health.Connect
		}
		w.countError(g, h)
		if waited >= patience {
			return Late
		}
	}
	return Refused
}

// nextServer is the round robin's.
func (w *world) nextServer(g *host, open bool) *host {
	n := len(w.hosts)
	for range n {
		g.lb.turn = (g.lb.turn + 1) % n
		if b := &g.lb.servers[g.lb.turn]; b.known && (b.up || open) {
			return w.hosts[g.lb.turn]
		}
	}
	return nil
}

// countError is a connection that failed: several of them mark a server down before the next look.
func (w *world) countError(g, h *host) {
	b := &g.lb.servers[h.index]
	if b.errors++; b.up && b.errors >= health.ErrorLimit {
		w.turnServer(g, h, false)
	}
}
