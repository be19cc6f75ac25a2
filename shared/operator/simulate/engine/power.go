package engine

import (
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/balancer"
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

// powerOff ends everything on a host at once.
func powerOff(w *world.World, h *world.Host) {
	if !h.On {
		return
	}
	w.ResetRequests(h)
	h.On = false
	h.Boots++
	router.Exit(w, h)
	h.Router.HasVIP = false
	h.API, h.MCS, h.Route.On, h.DNS = world.Server{}, false, false, false
	h.LB.On, h.LB.Hung, h.LB.Redirect = false, false, false
	h.LB.Gen++
	s := &h.Supervisor
	s.Run++
	s.Releases++
	s.Dead, s.Releasing, s.Stopped = false, false, false
	s.Backoff = supervised.Backoff{}
	s.Container.Forget()
	s.Forget()
	s.Reported, s.Left = world.Stopped, schedule.Fault{}
	h.Release.Gen++
	if h.Role == role.Bootstrap { // after a reboot nothing is held
		h.Release.State, h.Release.HandingOver = release.Resume(false), false
		h.Release.Stopped = false
	}
	h.Monitor = false
	checks.Forget(w, h)
	for i := range h.Checks {
		h.Checks[i].Latch.Passes = false
		trace.Mark(&h.Film.Checks[i], w.Now, false)
	}
	for _, s := range []*[]trace.Stretch{&h.Film.Holds, &h.Film.Redirect, &h.Film.API} {
		trace.Mark(s, w.Now, false)
	}
	trace.Mark(&h.Film.Away, w.Now, true)
	trace.Mark(&h.Film.Off, w.Now, true)
	w.Dirty = true
	w.RecordHolders()
	balancer.WakeAll(w)
}

// startPart starts a part of a host.
func startPart(w *world.World, h *world.Host, p world.Part, boot uint32) {
	if p == world.PartPower {
		switchOn(w, h)
		return
	}
	if boot != h.Boots || !h.On {
		return
	}
	switch p {
	case world.PartKeepalived:
		if !h.Router.Runs {
			router.SetVIP(w, h, false) // leftover of an earlier one
		}
		h.Supervisor.Dead, h.Supervisor.Stopped = false, false
		supervisor.Restart(w, h, 0)
	case world.PartLB:
		balancer.Start(w, h)
	case world.PartAPI:
		balancer.SetAPI(w, h, world.Server{On: true})
	case world.PartMCS:
		h.MCS = true
	case world.PartRouter:
		h.Route.On, h.Route.Ready = h.Route.Has, true
	case world.PartDNS:
		h.DNS = true
	case world.PartMonitor:
		checks.Start(w, h)
	case world.PartNode:
		h.Listed = true
		publishNode(w, h, true)
	}
	checks.Wake(w, h)
}

// switchOn switches a host on. The eligibility gate stays as it was; /run is empty.
func switchOn(w *world.World, h *world.Host) {
	if h.On {
		return
	}
	h.On = true
	h.Links.Quiet = w.Now
	trace.Mark(&h.Film.Away, w.Now, h.Links.InCut+h.Links.OutCut > 0)
	trace.Mark(&h.Film.Off, w.Now, false)
	w.Note(h, "boots")
	w.Dirty = true
	startAll(w, h)
	balancer.WakeAll(w)
	switch {
	case h.Listed:
		publishNode(w, h, true) // hosts may have missed it before
	case h.Joined:
		register(w, h)
	}
}

// startAll starts the parts of a host that boots.
func startAll(w *world.World, h *world.Host) {
	start := func(p world.Part, takes world.Span) { w.StartPart(h, p, w.Take(takes)) }
	start(world.PartKeepalived, world.BootPods)
	start(world.PartMonitor, world.BootPods)
	start(world.PartRouter, world.BootPods)
	if w.Kind == vrrp.DNS {
		start(world.PartDNS, world.BootPods)
	}
	if h.Role == role.Bootstrap {
		start(world.PartAPI, world.BootAPI)
		w.After(w.Take(world.BootPods),
			h.Event(world.EvBootstrapProbe, h.Release.Gen))
	}
	if h.Role == role.Master {
		start(world.PartLB, world.BootPods)
		start(world.PartAPI, world.BootAPI)
		start(world.PartMCS, world.BootAPI)
	}
}
