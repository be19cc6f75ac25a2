// Package pair runs one schedule of faults on both sides of a cluster in virtual time: the hosts
// with their elections by VRRP, and the routers to which they announce the VIP. What runs on a host
// runs on the side of the elections; the other side has the results.
package pair

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/agenda"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/both/schedule"
	hosts "github.com/onprem-infra/onprem-infra/shared/operator/simulate/engine"
	routers "github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/engine"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/host"
	routed "github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/world"
	elections "github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/script"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/supervisor"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/trace"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
)

// Result is what came of a run.
type Result struct {
	Elections trace.Result
	Routed    routed.Result
	Film      Film
}

// Broken are the broken rules of both sides.
func (r Result) Broken() (all []string) {
	for _, b := range r.Elections.Broken {
		all = append(all, b.String())
	}
	for _, b := range r.Routed.Broken {
		all = append(all, b.String())
	}
	return all
}

// pair is a run in the making.
type pair struct {
	schedule.Cluster
	faults    []script.Fault
	elections hosts.Runner
	routed    routers.Runner
	twins     []*twin
	monitors  agenda.Queue[due] // what monitors are about to do
	monitor   monitor
	film      Film
}

// due is a monitor's decision at a time. With changes, a migration first sets of.announces to to.
type due struct {
	at      time.Duration
	of      *twin
	changes bool
	to      bool
}

// Run runs a schedule. Equal clusters and schedules give equal results.
func Run(c schedule.Cluster, s script.Schedule) Result {
	p := &pair{Cluster: c, faults: s.Faults, elections: hosts.Start(c.Elections, s),
		routed: routers.Start(c.Routed, s), monitors: agenda.New[due](16),
		monitor: monitorOf(c)}
	announces := schedule.Announces(s)
	for _, h := range p.elections.Hosts {
		p.twins = append(p.twins,
			&twin{one: h, two: p.routed.Hosts[h.Number+1], announces: announces})
	}
	p.follow()
	for p.step() {
	}
	return Result{Elections: p.elections.End(), Routed: p.routed.End(), Film: p.film}
}

// step does what is due next on either side; false if nothing is.
func (p *pair) step() bool {
	one, ok := p.elections.Due()
	two, more := p.routed.Due()
	three, decides := p.monitors.Next()
	switch {
	case decides && (!ok || three < one) && (!more || three <= two):
		d := p.monitors.Pop()
		p.routed.Now = d.at
		p.decides(d)
		p.routed.Follow()
	case ok && (!more || one <= two):
		p.ofElections()
	case more:
		p.routed.Step()
		p.settleReboots()
	default:
		return false
	}
	if p.Filmed {
		p.record()
	}
	return true
}

// ofElections does a step of the elections, and has the routers' side follow.
func (p *pair) ofElections() {
	holder := p.elections.Find(elections.Holder)
	begun := p.elections.Step()
	p.routed.Now = p.elections.Now
	if begun >= 0 {
		p.begin(begun, holder)
	}
	p.follow()
	p.settleReboots()
}

// begin begins fault i of the schedule on the side of the routers. holder is the VIP's holder
// before the fault.
func (p *pair) begin(i int, holder *world.Host) {
	f := p.faults[i]
	if f.Host == elections.Holder {
		if holder == nil {
			return
		}
		f.Host = holder.Name
	}
	if f.Kind == schedule.Migrate {
		p.migrate(f.Host == schedule.ToBoth)
	}
	for _, t := range p.twins {
		if t.one.Name != f.Host {
			continue
		}
		if f.Kind == elections.Reboot {
			host.Leave(p.routed.World, t.two, f)
		}
		f.Host = p.routed.Name(t.two.Index)
	}
	p.routed.Disturb(i, f, !p.ForRouters(f))
	p.routed.Follow()
}

// migrate has all nodes change at one instant, by their own clocks.
func (p *pair) migrate(to bool) {
	for _, t := range p.twins {
		at := p.routed.Now + p.routed.Take(routed.Clocks)
		p.monitors.Push(at, due{at: at, of: t, changes: true, to: to})
	}
}

// settleReboots shuts down hosts that reboot, once they have released the VIP on both sides.
func (p *pair) settleReboots() {
	for _, t := range p.twins {
		if t.one.Supervisor.Left.Kind == elections.Reboot && (t.two.Rebooting || !t.two.Speaks) {
			supervisor.ShutDown(p.elections.World, t.one)
		}
	}
}
