package engine

import (
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/bonus"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/checks"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/router"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/supervisor"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/trace"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
	"github.com/onprem-infra/onprem-infra/shared/release"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// settle brings all hosts that do not join later to rest.
func settle(w *world.World) {
	for _, h := range w.Hosts {
		for i := range h.Checks {
			h.Checks[i].Phase = w.Between(0, h.Checks[i].Policy.Interval)
		}
		h.Supervisor.Beat = w.Between(0, vrrp.Beat)
		h.LB.Phase = w.Between(0, w.Timing.Redirect.Interval)
		h.On, h.Joined = true, !slices.ContainsFunc(w.Faults, func(f schedule.Fault) bool {
			return f.Kind == schedule.Join && f.Host == h.Name
		})
		h.Listed, h.DNS, h.API.On = h.Joined, h.Joined, h.Joined || h.Role != role.Master
	}
	if w.Boot != nil {
		w.Boot.Release.State = release.Resume(true)
	}
	for _, h := range w.Hosts {
		if h.Joined {
			rest(w, h)
		}
	}
	chooseHolder(w)
	for _, h := range w.Hosts {
		h.Supervisor.Reported = h.Router.State
	}
	if h := w.Boot; h != nil {
		w.After(w.Between(0, w.Timing.Bootstrap.Interval),
			h.Event(world.EvBootstrapProbe, h.Release.Gen))
	}
}

// rest sets the state of a host on which nothing has happened for long.
func rest(w *world.World, h *world.Host) {
	for i, other := range w.Hosts {
		h.Knows[i] = other.Joined
	}
	if h.Role == role.Master {
		h.LB.On, h.LB.Redirect, h.MCS, h.Served = true, true, true, true
		for i, other := range w.Hosts {
			if other.Role == role.Master && other.Joined {
				h.LB.Servers[i] = world.Backend{
					Known: true, Up: true, Phase: w.Between(0, w.Timing.Server.Inter),
				}
			}
		}
		trace.Mark(&h.Film.Redirect, 0, true)
	}
	trace.Mark(&h.Film.API, 0, h.Role != role.Worker)
	h.Monitor = h.Role != role.Bootstrap
	first := 0 // host with an ingress router; the first two have the default one
	if w.Workers > 0 {
		first = w.Masters
	}
	h.Route.Has = h.Role != role.Bootstrap && h.Number >= first
	h.Route.On, h.Route.Ready = h.Route.Has, true
	h.Route.Standard = h.Route.Has && h.Number < first+2
	for i := range h.Checks {
		h.Checks[i].Latch.Passes, _ = checks.Actual(w, h, h.Checks[i].Check)
		trace.Mark(&h.Film.Checks[i], 0, h.Checks[i].Latch.Passes)
	}
	if !supervisor.Eligible(w, h) {
		return
	}
	r := &h.Router
	h.Supervisor.Bonus = bonus.State{}.Next(supervised.Master, w.Clock()).
		Next(supervised.Backup, w.Clock())
	r.Runs, r.State = true, world.Backup
	router.SetPriority(w, h, supervisor.Priority(w, h))
	r.Down = router.MasterDown(w, r)
	if supervisor.Faulty(w, h) {
		r.State = world.Faulted
	}
}

// chooseHolder gives the VIP to the bootstrap machine, or else to a random one of the hosts that
// could have it.
func chooseHolder(w *world.World) {
	var best []*world.Host
	prefers, spread := w.Candidates().Holder > 0, w.RankSpread()
	for _, h := range w.Hosts {
		switch {
		case !h.Router.Runs || h.Router.State != world.Backup:
		case len(best) == 0, !prefers && world.Outranks(h, best[0]),
			h.Router.Priority > best[0].Router.Priority+spread:
			best = []*world.Host{h}
		case prefers && h.Router.Priority+spread >= best[0].Router.Priority &&
			h.Role == best[0].Role:
			best = append(best, h)
		}
	}
	if len(best) == 0 {
		return
	}
	h := best[w.Random.IntN(len(best))]
	r := &h.Router
	r.State, r.HasVIP, r.MasterSince = world.Master, true, 0
	if prefers && h.Role != role.Bootstrap {
		h.Supervisor.Bonus = h.Supervisor.Bonus.Next(supervised.Master, w.Clock())
		router.SetPriority(w, h, supervisor.Priority(w, h))
	}
	last := w.Between(0, w.Timing.Advert)
	router.Arm(w, h, w.Timing.Advert-last)
	for _, other := range w.Hosts {
		if o := &other.Router; other != h && o.Runs && o.State == world.Backup {
			router.Arm(w, other, o.Down-last)
		}
	}
	w.Neighbour = h
	trace.Mark(&h.Film.Holds, 0, true)
	w.RecordHolders()
}
