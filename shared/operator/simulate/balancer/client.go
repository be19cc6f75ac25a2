package balancer

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/trace"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// StartClient begins the requests of a client for what an API server serves.
func StartClient(w *world.World) {
	if w.Client > 0 {
		w.At(w.Between(0, w.Client), world.Event{Kind: world.EvClient})
	}
}

// SendRequest sends a request and schedules the next one.
func SendRequest(w *world.World) {
	h := w.Neighbour
	r := trace.Request{At: w.Now, Outcome: outcome(w)}
	if r.Outcome != trace.Late {
		r.Host = h.Name
	}
	w.Result.Requests = append(w.Result.Requests, r)
	w.After(w.Client, world.Event{Kind: world.EvClient})
}

// outcome is the outcome of a request that begins now.
func outcome(w *world.World) trace.Outcome {
	h := w.Neighbour
	switch {
	case h == nil || !h.On || !h.Router.HasVIP || !h.Links.In() || !h.Links.Out():
		return trace.Late
	case w.Kind == vrrp.Ingress && !h.Route.On:
		return trace.Refused
	case w.Kind == vrrp.DNS && !h.DNS:
		return trace.Refused
	case w.Draws(2*h.Links.Loss) || world.Milliseconds(2*h.Links.Delay) > world.ClientTimeout:
		return trace.Late // a SYN is repeated after a second
	case w.Kind != vrrp.API:
		return trace.Served
	case !h.LB.Redirect:
		return h.API.Answer()
	case h.LB.Hung:
		return trace.Late
	case !h.LB.On:
		return trace.Refused
	}
	return balance(w, h)
}

// balance is a request through the balancer of g. It goes to the servers that are up in round
// robin, or to all if none is up. If one cannot be reached, the next one is tried.
func balance(w *world.World, g *world.Host) trace.Outcome {
	open := !g.LB.AnyUp()
	waited := time.Duration(0)
	for range health.Retries + 1 {
		h := nextServer(w, g, open)
		if h == nil {
			return trace.Refused
		}
		away := g != h && (!world.Reaches(g, h) || !world.Reaches(h, g))
		if !away && h.API.On {
			g.LB.Servers[h.Index].Errors = 0
			return h.API.Answer()
		}
		if away {
			waited += health.Connect
		}
		countError(w, g, h)
		if waited >= world.ClientTimeout {
			return trace.Late
		}
	}
	return trace.Refused
}

// nextServer is the next server of the round robin.
func nextServer(w *world.World, g *world.Host, open bool) *world.Host {
	n := len(w.Hosts)
	for range n {
		g.LB.Next = (g.LB.Next + 1) % n
		if b := &g.LB.Servers[g.LB.Next]; b.Known && (b.Up || open) {
			return w.Hosts[g.LB.Next]
		}
	}
	return nil
}

// countError counts a failed connection. Several of them mark a server down before the next probe.
func countError(w *world.World, g, h *world.Host) {
	b := &g.LB.Servers[h.Index]
	if b.Errors++; b.Up && b.Errors >= health.ErrorLimit {
		markServer(w, g, h, false)
	}
}
