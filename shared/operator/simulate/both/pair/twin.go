package pair

import (
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/host"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/rules"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/session"
	routed "github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/world"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// twin is a host as both sides have it.
type twin struct {
	one       *world.Host
	two       *routed.Host
	facts     facts
	pending   bool // its monitor is about to decide
	announces bool // by the plan in force
	begun     bool // the bootstrap machine has announced
}

// facts are what the routers' side, and the host's monitor there, have of the elections' side.
type facts struct {
	on, cut, answers, link bool
	monitor, open          bool
	checks                 uint32 // a bit for each that passes
	pid                    bool
	state                  world.State
	hold, yield            bool // of the bootstrap machine
}

// monitored are the facts by which a monitor decides; the others are false.
func (f facts) monitored() facts {
	f.on, f.cut, f.answers = false, false, false
	return f
}

func (p *pair) factsOf(t *twin) facts {
	h := t.one
	f := facts{on: h.On && h.Joined, cut: !h.Links.In() || !h.Links.Out(),
		answers: answers(p.elections.World, h), link: h.On && h.Router.HasVIP,
		monitor: h.Monitor || h.Role == role.Bootstrap, open: h.Served,
		pid: h.Router.Runs || h.Supervisor.Dead, state: h.Supervisor.Reported,
		yield: h.Release.HandingOver}
	f.hold = h.Role == role.Bootstrap && h.Release.Holds()
	for i, k := range h.Checks {
		if k.Latch.Passes {
			f.checks |= 1 << i
		}
	}
	return f
}

// answers reports whether a connection to the VIP that a host has is answered there, now or by the
// next try.
func answers(w *world.World, h *world.Host) bool {
	serves := func(o *world.Host) bool { return o.On && o.API.On && !o.API.Hung }
	switch {
	case !h.On:
		return false
	case w.Kind == vrrp.Ingress:
		return h.Route.On
	case w.Kind == vrrp.DNS:
		return h.DNS
	case !h.LB.Redirect:
		return serves(h)
	case !h.LB.On || h.LB.Hung:
		return false
	}
	for i, b := range h.LB.Servers {
		o := w.Hosts[i]
		if b.Known && serves(o) && (o == h || world.Reaches(h, o) && world.Reaches(o, h)) {
			return true
		}
	}
	return false
}

// follow has the routers' side follow what has changed on hosts.
func (p *pair) follow() {
	w, changed := p.routed.World, false
	for _, t := range p.twins {
		was, is := t.facts, p.factsOf(t)
		if was == is {
			continue
		}
		t.facts, changed = is, true
		if was.on != is.on || was.cut != is.cut {
			rules.Disturb(w, t.two.Index)
			p.power(t, was, is)
			rules.Disturb(w, t.two.Index)
		}
		if was.answers != is.answers || was.monitor != is.monitor {
			rules.Fails(w)
		}
		h := t.two
		h.Answers, h.OnLink, h.Seen, w.Dirty = is.answers, is.link, is.open, true
		if len(t.one.Checks) > 0 && p.elections.Kind == vrrp.API {
			h.Checks[0].Passes = t.one.Passes(vrrp.CheckLB)
		}
		if is.on {
			host.Attend(w, h, is.monitor)
		}
		if was.answers != is.answers || was.monitor != is.monitor {
			rules.Fails(w)
		}
		if was.monitored() != is.monitored() || was.on != is.on {
			p.ask(t)
		}
	}
	var neighbour *routed.Host
	for _, t := range p.twins {
		if t.one == p.elections.Neighbour {
			neighbour = t.two
		}
	}
	if changed = changed || neighbour != w.Neighbour; changed {
		w.Neighbour, w.Dirty = neighbour, true
		p.routed.Follow()
	}
}

// power has the routers' side follow the power and the cable of a host.
func (p *pair) power(t *twin, was, is facts) {
	w, h := p.routed.World, t.two
	switch {
	case is.on && !was.on && w.Now < 0:
		host.Boot(w, h, 0)
	case is.on && !was.on:
		host.Boot(w, h, p.elections.Take(world.BootPods))
	case was.on && !is.on:
		host.Off(w, h)
		t.begun = false
	}
	if was.cut == is.cut {
		return
	}
	by := +1
	if was.cut {
		by = -1
	}
	h.Cuts += by
	w.Moved = true
	for _, i := range h.Ports {
		w.Links[i].Cuts += by
		session.Check(w, w.Links[i])
	}
}
