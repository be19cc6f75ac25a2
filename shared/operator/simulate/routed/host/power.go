package host

import (
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/rules"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/session"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/world"
	"github.com/onprem-infra/onprem-infra/shared/release"
)

// On boots a host. In a cluster that is settled its programs run at once.
func On(w *world.World, h *world.Host, settled bool) {
	if h.On {
		return
	}
	h.On, w.Moved, w.Dirty = true, true, true
	h.Boots++
	h.Rebooting = false
	session.Changed(w, h.Index)
	if settled {
		programs(w, h)
		for _, p := range []world.Part{world.PartAPI, world.PartLB, world.PartIngress} {
			Part(w, h, p)
		}
		return
	}
	w.Start(h, world.PartPrograms, w.Take(world.Boots))
}

// programs starts what kubelet runs.
func programs(w *world.World, h *world.Host) {
	Watch(w, h)
	Speak(w, h)
	for _, p := range []world.Part{world.PartAPI, world.PartLB, world.PartIngress} {
		w.Start(h, p, w.Take(world.BootAPI))
	}
}

// Off cuts the power.
func Off(w *world.World, h *world.Host) {
	if !h.On {
		return
	}
	h.On, w.Moved, w.Dirty = false, true, true // first: no kernel closes the connections
	Unwatch(w, h)
	Silence(w, h)
	h.Boots++
	h.Services = world.Services{Redirects: h.Redirects + 1}
	h.Monitor = world.Monitor{Starts: h.Starts + 1}
	h.Release = release.Resume(false)
	h.Held = [2]bool{}
	session.Changed(w, h.Index)
}

// Part starts a part of a host.
func Part(w *world.World, h *world.Host, p world.Part) {
	if p == world.PartPower {
		On(w, h, false)
	}
	if !h.On {
		return
	}
	switch p {
	case world.PartPower:
	case world.PartPrograms:
		programs(w, h)
	case world.PartAPI:
		if h.Index <= w.Masters {
			h.API, h.Draining = world.Program{On: true, Gen: h.API.Gen + 1}, false
			if w.IsMaster(h.Index) && !h.Joined { // others need one more for a quorum
				h.Joined = true
				rules.Fails(w)
			}
		}
	case world.PartLB:
		h.LB = world.Program{On: w.IsMaster(h.Index)}
	case world.PartIngress:
		h.Ingress = world.Program{On: w.Announces(h.Index, schedule.Ingress)}
	case world.PartMonitor:
		Watch(w, h)
	case world.PartSpeaker:
		Speak(w, h)
	default:
		Begin(w, h, p)
	}
	w.Dirty = true
}
