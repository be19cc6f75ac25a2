package pair

import (
	"net/netip"

	"github.com/onprem-infra/onprem-infra/cluster/vip/announce"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/both/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/host"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// monitor is what the monitors of all hosts have of the plan.
type monitor struct {
	plan     plan.Plan
	vip      netip.Addr // the one that is simulated
	instance string     // of keepalived
	defect   schedule.Defect
}

func monitorOf(c schedule.Cluster) monitor {
	m := monitor{plan: c.Plan, defect: c.Defect}
	for e, v := range election.All(c.Plan) {
		if e.Kind == c.Elections.Kind && m.instance == "" {
			m.vip, m.instance = v.Address, string(v.Instance)
		}
	}
	return m
}

// states are keepalived's, as its supervisor reports them.
var states = map[world.State]supervised.State{world.Stopped: supervised.Init,
	world.Backup: supervised.Backup, world.Master: supervised.Master,
	world.Faulted: supervised.Fault}

// ask has the monitor of a host decide soon.
func (p *pair) ask(t *twin) {
	if !t.pending && t.facts.on && t.facts.monitor {
		t.pending = true
		at := p.routed.Now + p.elections.Take(world.Rounds)
		p.monitors.Push(at, due{at: at, of: t})
	}
}

// decides makes a monitor's decision that is due.
func (p *pair) decides(d due) {
	t := d.of
	if d.changes {
		t.announces = d.to
	} else {
		t.pending = false
	}
	if !t.facts.on || !t.facts.monitor {
		return
	}
	w, v := p.routed.World, p.routed.Slot()
	if t.one.Role == role.Bootstrap {
		t.begun = t.begun || t.facts.hold && t.facts.link
		t.two.Yields = t.facts.yield
		var route *speak.Route
		if t.begun && (t.facts.hold || t.facts.yield) {
			grade := p.Routed.BGP.Policy.OfBootstrap(false)
			route = &speak.Route{Grade: grade,
				Demotions: p.Routed.BGP.Policy.Demotions(grade)}
		}
		host.Order(w, t.two, v, route)
		return
	}
	t.two.Ends = !t.announces
	host.Order(w, t.two, v, p.monitor.route(t))
}

// route is how a node announces the VIP by the product's own decision; nil if it does not.
func (m monitor) route(t *twin) *speak.Route {
	f := t.facts
	status := supervised.Status{Instances: map[string]supervised.Instance{
		m.instance: {State: states[f.state]}}}
	if f.pid {
		status.PID = 1
	}
	if m.defect == schedule.Blind {
		status = supervised.Status{}
	}
	d := announce.Decide(m.plan, t.one.Role,
		announce.Seen{Open: f.open, Rank: t.one.Rank, Waits: !t.announces, Status: status,
			Agreed: []netip.Addr{t.one.Address}},
		announce.Local{Passes: func(name vrrp.CheckName) bool { return t.one.Passes(name) }})
	for _, r := range d.Routes {
		if r.VIP != m.vip {
			continue
		}
		route := &speak.Route{Grade: r.Grade, Demotions: r.Demotions, Behind: r.Behind,
			Ends: r.Ends}
		if m.defect == schedule.Early && route.Ends {
			return nil
		}
		return route
	}
	return nil
}
