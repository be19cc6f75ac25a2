// Package engine runs a schedule of faults on a provisioned cluster in virtual time.
package engine

import (
	"fmt"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/bootstrap"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/cluster"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/host"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/ironic"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/rules"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/world"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// run is a run in the making.
type run struct {
	*world.World
	boot    *bootstrap.Machine
	cluster *cluster.Cluster
	person  person
}

// Run runs a schedule. Equal clusters and schedules give equal results.
func Run(c schedule.Cluster, s schedule.Schedule) world.Result {
	w := world.New(c, s)
	r := &run{World: w, boot: bootstrap.New(w), cluster: cluster.New(w)}
	for i, f := range s.Faults {
		if f.After == "" {
			w.At(f.At, world.Event{Kind: world.EvFault, Arg: int32(i)})
		}
	}
	r.boot.On()
	end := world.Hours
	for !w.Queue.Empty() {
		e := w.Queue.Pop()
		if e.At > end {
			break
		}
		w.Now = e.At
		r.handle(e)
		rules.Judge(w)
		if r.over() {
			end = min(end, w.Now+world.After)
		} else {
			end = world.Hours
		}
	}
	r.finish()
	return w.Result
}

// over reports whether nothing is left to happen: no fault lasts or is to come, and all hosts have
// joined, or a person is needed.
func (r *run) over() bool {
	if r.Open > 0 || r.person.acts {
		return false
	}
	for _, f := range r.Schedule.Faults {
		if at, ok := r.Result.Marks[f.After]; (ok || f.After == "") && at+f.At >= r.Now {
			return false
		}
	}
	joined := true
	for _, h := range r.Hosts {
		joined = joined && h.HasJoined()
	}
	return joined && r.Boot.Phase == progress.Ended || len(r.blocked()) > 0
}

// blocked are the hosts that wait for a person, if all others of the control plane have joined.
func (r *run) blocked() (all []string) {
	if !r.Boot.On || r.Boot.Phase != progress.Deploy {
		return nil
	}
	for _, h := range r.Hosts[:r.Nodes] {
		known := r.Boot.Memory.Hosts[h.Plan.Name]
		switch {
		case !known.Joined.IsZero():
		case known.Blocker == "":
			return nil
		default:
			all = append(all, h.Plan.Name+": "+known.Blocker)
		}
	}
	return all
}

func (r *run) finish() {
	w := r.World
	w.Result.Blocked = r.blocked()
	for _, e := range w.Boot.Ledger {
		if e.Kind == ledger.Back {
			w.Result.TakenBack++
		}
	}
	all, nodes := true, true
	for _, h := range w.Hosts {
		if !h.HasJoined() {
			all, nodes = false, nodes && h.Index >= w.Nodes
			continue
		}
		if w.Result.Joined = max(w.Result.Joined, h.Joined); h.Index < w.Nodes {
			w.Result.Nodes = max(w.Result.Nodes, h.Joined)
		}
	}
	if !all {
		w.Result.Joined = -1
	}
	if !nodes {
		w.Result.Nodes = -1
	}
	rules.End(w)
}

// handle handles an event that is due.
func (r *run) handle(e world.Event) {
	switch e.Kind {
	case world.EvFault:
		r.begin(r.Schedule.Faults[e.Arg], e.Arg)
	case world.EvHealed:
		r.heal(r.Schedule.Faults[e.Arg], int(e.Host))
	case world.EvPhases:
		r.boot.Round(e.Gen)
		r.cluster.Phase()
	case world.EvPart, world.EvPower:
		if e.Gen == r.Boot.Boots && r.Boot.On {
			r.ofMachine(e)
		}
	case world.EvPod:
		if e.Gen == r.Pod.Gen {
			r.cluster.Pod()
		}
	case world.EvMissed:
		if e.Gen == r.Pod.Gen {
			r.cluster.Missed()
		}
	case world.EvMetal3:
		r.cluster.Metal3()
	case world.EvPerson:
		r.follow()
	case world.EvJudge:
	default:
		r.ofHost(e, r.Hosts[e.Host])
	}
}

func (r *run) ofMachine(e world.Event) {
	if e.Kind == world.EvPower {
		r.boot.Start()
		return
	}
	r.boot.Part(e.Arg)
}

// ofHost handles an event of a host: of its boot, its node in Ironic, or its programs.
func (r *run) ofHost(e world.Event, h *world.Host) {
	w := r.World
	gen, joined := h.Ironic.Gen, h.HasJoined()
	defer func() {
		if h.Index < w.Nodes && (h.Ironic.Gen != gen || h.HasJoined() != joined) {
			r.boot.Poll()
		}
	}()
	switch e.Kind {
	case world.EvBoot, world.EvCall, world.EvWrite, world.EvJoin:
		if e.Gen != h.Boot.Count || !h.On {
			return
		}
		r.boots(e, h)
	case world.EvWork, world.EvLate:
		if e.Gen != h.Ironic.Gen {
			return
		}
		if e.Kind == world.EvWork {
			ironic.Work(w, h)
		} else {
			ironic.Late(w, h)
		}
	case world.EvTake, world.EvYield:
		if e.Gen != h.Seat.Gen {
			return
		}
		if e.Kind == world.EvTake {
			r.cluster.Take(h)
		} else {
			r.cluster.Yield(h)
		}
	default:
		if e.Gen == h.Seat.Lost && h.On {
			r.ofNode(e, h)
		}
	}
}

func (r *run) boots(e world.Event, h *world.Host) {
	up := h.Up
	switch e.Kind {
	case world.EvBoot:
		host.Next(r.World, h)
	case world.EvCall:
		ironic.Call(r.World, h)
	case world.EvWrite:
		host.Fetched(r.World, h)
	case world.EvJoin:
		host.Join(r.World, h)
	}
	if h.Up && !up {
		r.cluster.Started(h)
		r.cluster.Changed(h)
	}
}

func (r *run) ofNode(e world.Event, h *world.Host) {
	switch e.Kind {
	case world.EvSeat:
		r.cluster.Seat(h)
	case world.EvAsk:
		r.cluster.Ask(h)
	case world.EvProbe:
		r.cluster.Probe(h)
	case world.EvServer:
		r.cluster.Round(h)
	default:
		panic(fmt.Sprintf("simulate: no program has the event %d", e.Kind))
	}
}
