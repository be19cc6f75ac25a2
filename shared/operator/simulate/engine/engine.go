// Package engine runs a schedule of faults on a cluster in virtual time.
package engine

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/balancer"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/checks"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/router"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/rules"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/supervisor"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/trace"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/world"
)

// Run runs a schedule. Equal clusters and schedules give equal results.
func Run(c schedule.Cluster, s schedule.Schedule) trace.Result {
	r := Start(c, s)
	for {
		if _, ok := r.Due(); !ok {
			return r.End()
		}
		r.Step()
	}
}

// Runner is a run that goes on step by step.
type Runner struct{ *world.World }

// Start is a run before its first step.
func Start(c schedule.Cluster, s schedule.Schedule) Runner { return Runner{newWorld(c, s)} }

// Due is when the next step is; ok is false if the run is over.
func (r Runner) Due() (at time.Duration, ok bool) {
	at, ok = r.Queue.Next()
	return at, ok && at <= r.Result.Schedule.Length
}

// Step does what is due next. Begun is the fault of the schedule that begins with it, by its index;
// -1 for none.
func (r Runner) Step() (begun int) {
	e := r.Queue.Pop()
	r.Now, begun = e.At, -1
	if e.Kind == world.EvFault {
		begun = int(e.Arg)
	}
	handle(r.World, e)
	if r.Dirty {
		r.Dirty = false
		rules.Judge(r.World)
	}
	return begun
}

// End ends the run.
func (r Runner) End() trace.Result {
	r.Now = r.Result.Schedule.Length
	rules.Judge(r.World)
	r.Finish()
	return r.Result
}

func newWorld(c schedule.Cluster, s schedule.Schedule) *world.World {
	w := world.New(c, s)
	settle(w)
	for i, f := range s.Faults {
		w.At(f.At, world.Event{Kind: world.EvFault, Arg: int32(i)})
		if f.Kind == schedule.Delay || f.Kind == schedule.Hog {
			w.Slowest = max(w.Slowest, world.Milliseconds(f.Amount))
		}
	}
	balancer.StartClient(w)
	rules.Judge(w)
	return w
}

// timed are the events that name a host and a generation alone.
var timed = [...]func(w *world.World, h *world.Host, gen uint32){
	world.EvTimer: router.Expire, world.EvTrack: supervisor.ReadTracks,
	world.EvAddress: router.AddVIP, world.EvDrop: router.DropVIP,
	world.EvARP: router.RepeatARP, world.EvStart: supervisor.StartKeepalived,
	world.EvRemoveVIP: supervisor.RemoveVIP, world.EvOrphan: supervisor.RemoveOrphan,
	world.EvResume: supervisor.Resume, world.EvReleaseTimeout: supervisor.Stop,
	world.EvHeartbeatLost: checks.HeartbeatLost,
	world.EvUnserved:      supervisor.ReleaseUnserved,
	world.EvMonitorRound:  balancer.MonitorRound, world.EvGate: passGate,
}

// handle handles an event that is due.
func handle(w *world.World, e world.Event) {
	h := w.Hosts[max(0, int(e.Host))]
	switch e.Kind {
	case world.EvFault:
		begin(w, w.Faults[e.Arg], e.Arg)
	case world.EvHealed:
		endFault(w, h, w.Faults[e.Arg], e.Gen)
	case world.EvAdvert:
		router.Receive(w, h, world.Advert{From: w.Hosts[e.Other], Priority: int(e.Arg)})
	case world.EvSettled:
		supervisor.Settled(w, h)
	case world.EvState:
		supervisor.ReceiveState(w, h, world.State(e.Arg), e.Gen)
	case world.EvProbe:
		checks.Probe(w, h, int(e.Other), e.Gen)
	case world.EvProbeResult:
		checks.Conclude(w, h, int(e.Other), e.Arg, e.Gen)
	case world.EvServerProbe:
		balancer.ProbeServer(w, h, w.Hosts[e.Other], e.Arg, e.Gen)
	case world.EvRedirect:
		balancer.SetRedirect(w, h, e.Arg != 0, e.Gen)
	case world.EvLearn:
		learn(w, h, w.Hosts[e.Other], e.Arg != 0)
	case world.EvBootstrapProbe:
		supervisor.ProbeAPI(w, h, e.Arg != 0, e.Gen)
	case world.EvPowerOff:
		powerOff(w, h)
	case world.EvPart:
		startPart(w, h, world.Part(e.Arg), e.Gen)
	case world.EvClient:
		balancer.SendRequest(w)
	default:
		timed[e.Kind](w, h, e.Gen)
	}
}
