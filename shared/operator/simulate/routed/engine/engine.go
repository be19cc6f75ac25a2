// Package engine runs a schedule of faults in virtual time on a cluster that announces its VIPs.
package engine

import (
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/clients"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/host"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/rules"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/session"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/world"
)

// run is a run in the making.
type run struct {
	*world.World
	clients *clients.Clients
}

// Run runs a schedule. Equal clusters and schedules give equal results.
func Run(c schedule.Cluster, s schedule.Schedule) world.Result {
	r := Start(c, s)
	for i, f := range s.Faults {
		r.ScheduleAt(f.At, world.Event{Kind: world.EvFault, Arg: int32(i)})
	}
	for _, h := range r.Hosts {
		if r.Bootstrap != r.IsMaster(h.Index) && (r.Bootstrap || h.Index > 0) ||
			r.Announces(h.Index, schedule.Ingress) {
			host.On(r.World, h, true)
		}
	}
	r.Settle()
	for {
		if _, ok := r.Due(); !ok {
			return r.End()
		}
		r.Step()
	}
}

// Runner is a run that goes on step by step, and in which routers alone run at first.
type Runner struct{ run }

// Start is a run before its first step.
func Start(c schedule.Cluster, s schedule.Schedule) Runner {
	s.Faults = slices.Clone(s.Faults)
	w := world.New(c, s)
	r := Runner{run{World: w, clients: clients.New(w)}}
	rules.Begin(w)
	for _, router := range w.Routers {
		session.Changed(w, router.Box)
	}
	return r
}

// Due is when the next step is; ok is false if the run is over.
func (r Runner) Due() (at time.Duration, ok bool) {
	at, ok = r.Queue.Next()
	return at, ok && at <= r.Schedule.Length
}

// Step does what is due next.
func (r Runner) Step() {
	e := r.Queue.Pop()
	r.Now = e.At
	r.handle(e)
	r.Follow()
}

// Disturb begins fault i of the schedule now, at the host or part of the network that f names. If
// elsewhere, the other side of the simulation does it: then only clients count from now on, and
// the rules know that a fault has begun.
func (r Runner) Disturb(i int, f schedule.Fault, elsewhere bool) {
	if r.Schedule.Faults[i] = f; !elsewhere {
		r.begin(f, int32(i))
		return
	}
	if r.Rules.Idle = r.Now; f.Kind != schedule.Join {
		r.clients.Begin(r.World)
	}
}

// End ends the run.
func (r Runner) End() world.Result {
	r.Now = r.Schedule.Length
	r.clients.End(r.World)
	return r.Result
}

// Follow has everything follow what an event has changed.
func (r *run) Follow() {
	w := r.World
	if w.Moved {
		w.Regroup()
		w.Dirty = true
	}
	if w.Dirty {
		w.Dirty = false
		w.Settle()
		for _, h := range w.Hosts {
			if w.Elected == "" {
				host.Observe(w, h)
			}
		}
		r.clients.Follow(w)
	}
	rules.Judge(w)
}

// handle handles an event that is due.
func (r *run) handle(e world.Event) {
	w := r.World
	switch e.Kind {
	case world.EvFault:
		r.begin(r.Schedule.Faults[e.Arg], e.Arg)
	case world.EvHealed:
		r.heal(r.Schedule.Faults[e.Arg])
	case world.EvChoose:
		if router := w.Router(int(e.Box)); router.On && e.Gen == router.Boots {
			session.Choose(w, router)
			rules.Chosen(w, router)
		}
	case world.EvRoute, world.EvConnect, world.EvMissed, world.EvHold, world.EvBFD:
		r.ofLink(e, w.Links[e.Box])
	case world.EvForwards:
		r.forwards(int(e.Box), e.Gen)
	default:
		r.ofHost(e, w.Hosts[e.Box])
	}
}

func (r *run) ofLink(e world.Event, l *world.Link) {
	w := r.World
	switch e.Kind {
	case world.EvRoute:
		session.Receive(w, l, e.Arg, e.Gen)
	case world.EvConnect:
		session.Connect(w, l, e.Gen)
	case world.EvMissed:
		session.Missed(w, l, int(e.Arg), e.Gen)
	case world.EvHold:
		session.Held(w, l, int(e.Arg), e.Gen)
	case world.EvBFD:
		session.Risen(w, l, e.Gen)
	}
}

// ofHost handles an event of a host's programs.
func (r *run) ofHost(e world.Event, h *world.Host) {
	w := r.World
	switch e.Kind {
	case world.EvAnnounce:
		host.Announce(w, h, e.Gen)
	case world.EvRound:
		if e.Gen == h.Rounds {
			host.Round(w, h)
		}
	case world.EvRedirect:
		host.Redirect(w, h, e.Gen)
	case world.EvPart:
		if e.Gen == h.Boots {
			host.Part(w, h, world.Part(e.Arg))
		}
	case world.EvOff:
		if e.Gen == h.Boots {
			r.off(h)
		}
	case world.EvNotice:
		host.Notice(w, h, e.Gen)
	case world.EvDrained:
		if e.Gen == h.API.Gen && h.Draining {
			h.API, h.Draining, w.Dirty = world.Program{Gen: h.API.Gen + 1}, false, true
			rules.Fails(w)
		}
	default:
		if h.On && h.Watches && e.Gen == h.Starts {
			ofMonitor(w, h, e)
		}
	}
}

// ofMonitor handles a probe.
func ofMonitor(w *world.World, h *world.Host, e world.Event) {
	switch {
	case e.Kind == world.EvGate:
		host.Gate(w, h)
	case e.Kind == world.EvPorts:
		host.Ports(w, h, schedule.VIP(e.Arg))
	case h.Index == 0:
		host.Release(w, h, e.Kind == world.EvLate)
	default:
		host.Probe(w, h, int(e.Arg), e.Kind == world.EvLate)
	}
}
