package rules

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/trace"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// judgeDualHolders measures how long two hosts hold the VIP although they receive each other's
// adverts.
func judgeDualHolders(w *world.World) {
	bound := w.Timing.Advert + vrrp.Skew(w.Version, w.Candidates().Lowest(),
		w.Timing.Advert) + world.Slack + w.Slowest
	for i, a := range w.Hosts {
		for j, b := range w.Hosts[:i] {
			since, reported := &w.Rules.Dual[i][j], &w.Rules.Reported[i][j]
			if *since >= 0 {
				lasts := w.Now - *since
				if lasts > bound && !*reported {
					*reported = true
					report(w, *since, trace.OneHolder, "%s and %s for %v, and %v is the bound",
						b.Name, a.Name, lasts, bound)
				}
			}
			switch both := twoWay(a) && twoWay(b); {
			case !both:
				*since = -1
			case *since < 0:
				*since, *reported = w.Now, false
			}
		}
	}
}

// twoWay reports whether a host holds the VIP and exchanges adverts with other holders.
func twoWay(h *world.Host) bool {
	return h.On && h.Router.HasVIP && h.Router.Runs && !h.Router.Frozen && !h.Links.Disturbed()
}

// judgeRemnants measures how long a host has an orphaned VIP.
func judgeRemnants(w *world.World) {
	for i, h := range w.Hosts {
		since := &w.Rules.Remnant[i]
		if lasts := w.Now - *since; *since >= 0 && lasts > world.Restarts.Most+world.Slack {
			report(w, *since, trace.NoRemnant, "%s has it for %v", h.Name, lasts)
			*since = w.Now // reported
		}
		switch dead := h.On && h.Router.HasVIP && !h.Router.Runs; {
		case !dead:
			*since = -1
		case *since < 0:
			*since = w.Now
		}
	}
}

// judgeNoHolder measures how long no host has held the VIP although one could.
func judgeNoHolder(w *world.World) {
	r := &w.Rules
	bound := w.MasterDown() + world.Slack + w.Slowest
	if r.None >= 0 {
		oldest := time.Duration(-1)
		for _, since := range r.Able {
			if since >= 0 && (oldest < 0 || since < oldest) {
				oldest = since
			}
		}
		if lasts := w.Now - max(r.None, oldest); oldest >= 0 && lasts > bound && !r.NoneReported {
			report(w, r.None, trace.SomeHolder, "no holder for %v, and %v is the bound",
				lasts, bound)
			r.NoneReported = true
		}
	}
	anybody := false
	for i, h := range w.Hosts {
		anybody = anybody || h.On && h.Router.HasVIP
		if !isEligible(w, h) {
			r.Able[i] = -1
		} else if r.Able[i] < 0 {
			r.Able[i] = w.Now
		}
	}
	switch {
	case anybody:
		r.None = -1
	case r.None < 0:
		r.None, r.NoneReported = w.Now, false
	}
}

// isEligible reports whether a host would take the VIP over if it received no advert.
func isEligible(w *world.World, h *world.Host) bool {
	r := &h.Router
	return h.On && r.Runs && !r.Frozen && (r.State == world.Backup || r.State == world.Master) &&
		!h.Links.Disturbed() &&
		!h.Supervisor.Releasing
}

// judgeNeighbours measures how long clients send to a host that does not have the VIP, although its
// only holder has announced it.
func judgeNeighbours(w *world.World) {
	r := &w.Rules
	var holder *world.Host
	n := 0
	for _, h := range w.Hosts {
		if h.On && h.Router.HasVIP {
			holder = h
			n++
		}
	}
	fine := n != 1 || w.Neighbour == holder || w.Neighbour == nil || muffled(holder) ||
		muffled(w.Neighbour)
	if r.Astray >= 0 && w.Now-r.Astray > world.RepeatARP+world.Slack+w.Slowest {
		report(w, r.Astray, trace.Neighbours, "clients sent to another host for %v",
			w.Now-r.Astray)
		r.Astray = w.Now
	}
	switch {
	case fine:
		r.Astray = -1
	case r.Astray < 0:
		r.Astray = w.Now
	}
}

// muffled reports whether announcements of a host, or to it, may have been lost since it became the
// holder. Its clients may then use an old neighbour entry until their kernels ask again.
func muffled(h *world.Host) bool {
	return h.Router.Frozen || h.Links.Disturbed() ||
		h.Links.Quiet > 0 && h.Links.Quiet >= h.Router.MasterSince
}
