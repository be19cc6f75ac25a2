// Package rules judges a run in virtual time: what must hold whatever happens.
package rules

import (
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/trace"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// report records a broken rule.
func report(w *world.World, since time.Duration, rule trace.Rule, why string, args ...any) {
	w.Result.Broken = append(w.Result.Broken,
		trace.Broken{At: since, Rule: rule, Why: fmt.Sprintf(why, args...)})
}

// Judge judges the rules about how long something lasts. It is called after every change and
// measures the time until now.
func Judge(w *world.World) {
	judgeDualHolders(w)
	judgeRemnants(w)
	judgeNoHolder(w)
	judgeNeighbours(w)
}

// JudgeTakeover judges the rules about which host takes the VIP over.
func JudgeTakeover(w *world.World, h *world.Host) {
	r := &w.Rules
	if h.Role == role.Master && w.Kind != vrrp.Ingress && !h.Served {
		report(w, w.Now, trace.Gate, "%s takes it", h.Name)
	}
	judgeNoHolder(w)
	r.None.Since = w.Now // the others wait from its advert on
	window := w.MasterDown() + 2*w.Timing.Advert
	for _, g := range w.Hosts {
		o := &g.Router
		if g == h || !g.On || !o.Runs || o.Frozen || o.State != world.Master ||
			!w.Calm(g, h, window) {
			continue
		}
		holding := w.Now-max(o.MasterSince, o.ResumedAt) >= window && !g.Supervisor.Releasing
		switch {
		case g.Role == role.Bootstrap && holding && g.Release.Holds():
			report(w, w.Now, trace.Stays, "%s takes it", h.Name)
		case h.Role == role.Bootstrap || !w.PrefersHolder():
		case w.Kind != vrrp.Ingress && w.Now-o.MasterSince < world.Wire.Most &&
			sameWait(o, &h.Router):
			report(w, w.Now, trace.OneTaker, "%s and %s, at priorities %d and %d", g.Name, h.Name,
				o.Priority, h.Router.Priority)
		case holding && w.Now-r.ReleasedAt >= window && w.Now-r.Health[g.Index] >= window &&
			w.Now-r.Health[h.Index] >= window && healthScore(w, g) >= healthScore(w, h):
			report(w, w.Now, trace.NoNeed, "%s takes it from %s, at priorities %d and %d", h.Name,
				g.Name, h.Router.Priority, o.Priority)
		}
	}
}

// sameWait reports whether two routers wait since the same advert.
func sameWait(a, b *world.Router) bool {
	undisturbed := func(r *world.Router) bool {
		return r.ReceivedAt >= 0 && r.ChangedAt <= r.ReceivedAt &&
			r.ResumedAt < r.ReceivedAt-world.AfterFault
	}
	return undisturbed(a) && undisturbed(b) && (a.ReceivedAt-b.ReceivedAt).Abs() < world.Wire.Most
}

// healthScore is the weight of the healthy checks but CheckMCS, which only orders equals.
func healthScore(w *world.World, h *world.Host) (sum int) {
	for _, k := range h.Checks {
		if k.Latch.Passes && k.Check != vrrp.CheckMCS {
			sum += k.Adds
		}
	}
	return sum
}
