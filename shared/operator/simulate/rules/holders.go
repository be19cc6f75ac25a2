package rules

import (
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/trace"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// judgeDualHolders measures how long two hosts hold the VIP although they receive each other's
// adverts.
func judgeDualHolders(w *world.World) {
	bound := w.Timing.Advert + vrrp.Skew(w.Version, w.Candidates().Lowest(), w.Timing.Advert) +
		world.Slack + w.Slowest
	for i, a := range w.Hosts {
		for j, b := range w.Hosts[:i] {
			both := &w.Rules.Dual[i][j]
			if lasts := w.Now - both.Since; both.Exceeds(lasts, bound) {
				report(w, both.Since, trace.OneHolder, "%s and %s for %v, and %v is the bound",
					b.Name, a.Name, lasts, bound)
			}
			both.Follow(w.Now, twoWay(a) && twoWay(b))
		}
	}
}

// twoWay reports whether a host holds the VIP and exchanges adverts with other holders.
func twoWay(h *world.Host) bool {
	return isHolder(h) && h.Router.Runs && !h.Router.Frozen && !h.Links.Disturbed()
}

// judgeRemnants measures how long a host has an orphaned VIP.
func judgeRemnants(w *world.World) {
	for i, h := range w.Hosts {
		has, limit := &w.Rules.Remnant[i], world.Restarts.Most
		if s := &h.Supervisor; s.Dead { // nothing else removes it if the monitor is dead too
			limit = max(limit, s.Back-has.Since)
		}
		if lasts := w.Now - has.Since; has.Exceeds(lasts, limit+world.Slack) {
			report(w, has.Since, trace.NoRemnant, "%s has it for %v", h.Name, lasts)
		}
		has.Follow(w.Now, h.On && h.Router.HasVIP && !h.Router.Runs)
	}
}

// judgeNoHolder measures how long no host has held the VIP although one could.
func judgeNoHolder(w *world.World) {
	r := &w.Rules
	bound := w.MasterDown() + world.Slack + w.Slowest
	lasts := time.Duration(0) // since no host holds it, and one could
	for _, able := range r.Able {
		if able.On {
			lasts = max(lasts, w.Now-max(r.None.Since, able.Since))
		}
	}
	if r.None.Exceeds(lasts, bound) {
		report(w, r.None.Since, trace.SomeHolder, "no holder for %v, and %v is the bound", lasts,
			bound)
	}
	for i, h := range w.Hosts {
		r.Able[i].Follow(w.Now, isEligible(h))
	}
	r.None.Follow(w.Now, !slices.ContainsFunc(w.Hosts, isHolder))
}

func isHolder(h *world.Host) bool { return h.On && h.Router.HasVIP }

// isEligible reports whether a host would take the VIP over if it received no advert.
func isEligible(h *world.Host) bool {
	r := &h.Router
	return h.On && r.Runs && !r.Frozen && (r.State == world.Backup || r.State == world.Master) &&
		!h.Links.Disturbed() && !h.Supervisor.Releasing
}

// judgeNeighbours measures how long clients send to a host that does not have the VIP, although its
// only holder has announced it.
func judgeNeighbours(w *world.World) {
	var holder *world.Host
	n := 0
	for _, h := range w.Hosts {
		if isHolder(h) {
			holder = h
			n++
		}
	}
	astray := &w.Rules.Astray
	if lasts := w.Now - astray.Since; astray.Exceeds(lasts, world.RepeatARP+world.Slack+w.Slowest) {
		report(w, astray.Since, trace.Neighbours, "clients sent to another host for %v", lasts)
	}
	astray.Follow(w.Now, n == 1 && w.Neighbour != holder && w.Neighbour != nil &&
		!muffled(holder) && !muffled(w.Neighbour))
}

// muffled reports whether announcements of a host, or to it, may have been lost since it became the
// holder. Its clients may then use an old neighbour entry until their kernels ask again.
func muffled(h *world.Host) bool {
	return h.Router.Frozen || h.Links.Disturbed() ||
		h.Links.Quiet > 0 && h.Links.Quiet >= h.Router.MasterSince
}
