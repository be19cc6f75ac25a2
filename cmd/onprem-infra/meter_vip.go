//go:build remote

package main

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/shared/advert"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/overhear"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// electing is what a host does in the elections of its VIPs, noted while its room turns. Its
// methods may be called by anybody.
type electing struct {
	host   nodeVIPHost
	checks []vrrp.CheckName
	passes func(vrrp.CheckName) bool // nil where no checks are made
	nodes  func() (nodes []kube.Node, heard bool)
	speaks func() bool // whether keepalived's parent answers; nil where it answers nobody

	mu      sync.Mutex
	plan    plan.Plan
	begun   bool // a status has been seen
	last    supervised.Status
	moves   map[string]map[supervised.State]uint64 // by instance
	reloads uint64
	stood   map[vrrp.CheckName]bool
	turned  map[vrrp.CheckName]uint64
	hears   bool
	adverts map[netip.Addr]*metrics.Adverts // by VIP
	found   []clash.Finding
}

// newElecting takes the checks of the host, each once, and what tells how they stand.
func newElecting(p plan.Plan, host nodeVIPHost, checks []vrrp.CheckName, passes func(vrrp.CheckName) bool, nodes func() ([]kube.Node, bool)) *electing {
	e := &electing{host: host, plan: p, checks: slices.Compact(slices.Sorted(slices.Values(checks))), passes: passes, nodes: nodes, moves: map[string]map[supervised.State]uint64{},
		stood: map[vrrp.CheckName]bool{}, turned: map[vrrp.CheckName]uint64{}, adverts: map[netip.Addr]*metrics.Adverts{}}
	for _, v := range election.All(p) {
		e.adverts[v.Address] = &metrics.Adverts{}
	}
	for _, check := range e.checks {
		e.stood[check] = passes(check)
	}
	return e
}

// newNodeElecting is newElecting for a node.
func newNodeElecting(p plan.Plan, host nodeVIPHost, made interface{ Passes(vrrp.CheckName) bool }, weights []vrrp.Weight, nodes *kube.Watcher) *electing {
	var checks []vrrp.CheckName
	for _, w := range weights {
		checks = append(checks, w.Check)
	}
	e := newElecting(p, host, checks, made.Passes, nodes.Known)
	parent := supervisorHealth(p)
	e.speaks = func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), parentWithin)
		defer cancel()
		_, err := parent.Good(ctx)
		return err == nil
	}
	return e
}

// parentWithin is how long keepalived's parent, which answers at once, may take to do so.
const parentWithin = time.Second

// silenced is what is left of the last words of a parent that is dead or stands still: nobody says
// that keepalived runs, or holds anything.
func silenced(s supervised.Status) supervised.Status {
	s.PID, s.Instances = 0, maps.Clone(s.Instances)
	for name, i := range s.Instances {
		s.Instances[name] = supervised.Instance{State: supervised.Init, Priority: i.Priority}
	}
	return s
}

// become goes on with another plan, when a migration has happened.
func (e *electing) become(p plan.Plan) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.plan = p
}

// observed is observe with a note of what was seen.
func (e *electing) observed(observe func(context.Context) (vip.Snapshot, error)) func(context.Context) (vip.Snapshot, error) {
	return func(ctx context.Context) (vip.Snapshot, error) {
		s, err := observe(ctx)
		if err == nil {
			e.note(s.Status, time.Now())
		}
		return s, err
	}
}

// note takes in what the supervisor says. What a VIP was when the program began is no change of its
// own.
func (e *electing) note(s supervised.Status, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for name, i := range s.Instances {
		if before, known := e.last.Instances[name]; e.begun && (!known || before.State != i.State) {
			if e.moves[name] == nil {
				e.moves[name] = map[supervised.State]uint64{}
			}
			e.moves[name][i.State]++
		}
	}
	if e.begun && s.Applied != e.last.Applied && s.Applied != "" {
		e.reloads++
	}
	for _, v := range election.All(e.plan) {
		if a := e.adverts[v.Address]; a != nil {
			a.Self(s.PID != 0 && s.Instances[string(v.Instance)].State == supervised.Master, now)
		}
	}
	for _, check := range e.checks {
		if passes := e.passes(check); passes != e.stood[check] {
			e.stood[check] = passes
			e.turned[check]++
		}
	}
	e.begun, e.last = true, s
}

// hear takes in an advert that came by a link, unless no router heeds it: else who is anywhere
// could have VIPs seem to move.
func (e *electing) hear(h overhear.Heard) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, vip := range h.VIPs {
		limited := vrrp.HopLimited(vip, e.plan.Timing.Model.Advert)
		if a := e.adverts[vip]; a != nil && h.Heeded(limited) {
			a.Hear(h.From, h.Interval, h.Priority == advert.Farewell, h.At)
		}
	}
}

// disturbed takes in who disturbs the elections now.
func (e *electing) disturbed(found []clash.Finding) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.hears, e.found = true, found
}

// onto looks at the host, and says what it is and what was noted.
func (e *electing) onto(page *metrics.Page) {
	e.mu.Lock()
	p := e.plan
	e.mu.Unlock()
	status, err := e.host.Status()
	if err != nil {
		return // the room says so, and its faults are counted
	}
	if e.speaks != nil && !e.speaks() {
		status = silenced(status)
	}
	links, err := e.host.Links()
	if err != nil {
		return
	}
	agreed, _, err := e.host.Agreed()
	if err != nil {
		return
	}
	host, gate := inspect.Inspector{Plan: p, Files: e.host.files()}, ""
	if e.passes != nil {
		gate, _ = host.Gate(links) // status reports its error
	}
	vips := host.VIPs(election.Observation{Links: links, Agreed: agreed}, status, nil)
	e.mu.Lock()
	defer e.mu.Unlock()
	out := metrics.Elections{At: time.Now(), Gate: gate, Heard: e.hears, Daemon: &metrics.Daemon{
		Running: status.PID != 0, Refused: status.Refused != nil, Leaving: status.Leaving != supervised.Stays, Restarts: uint64(max(status.Restarts, 0)), Reloads: e.reloads,
	}}
	for _, v := range vips {
		out.VIPs = append(out.VIPs, e.vip(v))
	}
	for _, check := range e.checks {
		out.Checks = append(out.Checks, metrics.CheckState{Name: check, Passes: e.passes(check), Changes: e.turned[check]})
	}
	var known []kube.Node
	if known, out.Named = e.nodes(); out.Named {
		for _, n := range known {
			if n.ControlPlane {
				out.Controls++
			} else {
				out.Others++
			}
		}
	}
	out.Onto(page)
}

func (e *electing) vip(v inspect.VIP) metrics.VIP {
	m := metrics.VIP{Address: v.Address, Kind: v.For, State: v.State, Present: v.Here, Priority: v.Priority, Transitions: e.moves[string(v.Instance)], Clashes: map[clash.Kind]int{}}
	for _, part := range v.Parts {
		if part.Counts {
			m.Parts = append(m.Parts, metrics.Part{Name: part.Name, Adds: part.Adds})
		}
	}
	if a := e.adverts[v.Address]; a != nil {
		m.Adverts = *a
	}
	for _, f := range e.found {
		if f.VIP == v.Address {
			m.Clashes[f.Kind]++
		}
	}
	return m
}
