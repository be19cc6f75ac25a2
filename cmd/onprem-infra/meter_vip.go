//go:build remote

package main

import (
	"context"
	"maps"
	"net/netip"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/shared/advert"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/overhear"
	"github.com/onprem-infra/onprem-infra/shared/host/services"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// vipMeter collects the metrics of a host's VIPs while its room reconciles. Its methods may be
// called by any goroutine.
type vipMeter struct {
	*metrics.Recorder
	host  nodeVIPHost
	gated bool // this host makes checks, and has an eligibility gate
	nodes func() (nodes []kube.Node, synced bool)
	alive func() bool // whether keepalived's parent answers; nil: it is not asked

	mu   sync.Mutex
	plan plan.Plan
}

// newVIPMeter takes the checks of the host and their results; passes is nil where there are none.
func newVIPMeter(p plan.Plan, host nodeVIPHost, checks []vrrp.CheckName, passes func(vrrp.CheckName) bool, nodes func() ([]kube.Node, bool)) *vipMeter {
	instances := map[netip.Addr]string{}
	for _, v := range election.All(p) {
		instances[v.Address] = string(v.Instance)
	}
	return &vipMeter{Recorder: metrics.NewRecorder(instances, checks, passes), host: host, plan: p, gated: passes != nil, nodes: nodes}
}

// newNodeVIPMeter is newVIPMeter for a node.
func newNodeVIPMeter(p plan.Plan, host nodeVIPHost, made interface{ Passes(vrrp.CheckName) bool }, weights []vrrp.Weight, nodes *kube.Watcher) *vipMeter {
	var checks []vrrp.CheckName
	for _, w := range weights {
		checks = append(checks, w.Check)
	}
	e := newVIPMeter(p, host, checks, made.Passes, nodes.Known)
	parent := services.Supervisor(p)
	e.alive = func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), parentWithin)
		defer cancel()
		_, err := parent.Good(ctx)
		return err == nil
	}
	return e
}

// parentWithin is the timeout for keepalived's parent, which normally answers at once.
const parentWithin = time.Second

// stopped is the last status of a parent that exited or hangs, without what is no longer known: that
// keepalived runs, or holds a VIP.
func stopped(s supervised.Status) supervised.Status {
	s.PID, s.Instances = 0, maps.Clone(s.Instances)
	for name, i := range s.Instances {
		s.Instances[name] = supervised.Instance{State: supervised.Init, Priority: i.Priority}
	}
	return s
}

// setPlan sets the plan after a migration.
func (e *vipMeter) setPlan(p plan.Plan) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.plan = p
}

// observed wraps observe to record the status.
func (e *vipMeter) observed(observe func(context.Context) (vip.Snapshot, error)) func(context.Context) (vip.Snapshot, error) {
	return func(ctx context.Context) (vip.Snapshot, error) {
		s, err := observe(ctx)
		if err == nil {
			e.Status(s.Status, time.Now())
		}
		return s, err
	}
}

// recordAdvert records a received advert, unless VRRP routers ignore it: otherwise any host could
// make VIPs seem to move.
func (e *vipMeter) recordAdvert(h overhear.Received) {
	e.mu.Lock()
	advertInterval := e.plan.Timing.Model.Advert
	e.mu.Unlock()
	for _, vip := range h.VIPs {
		if h.Accepted(vrrp.HopLimited(vip, advertInterval)) {
			e.Advert(vip, h.From, h.Interval, h.Priority == advert.Release, h.At)
		}
	}
}

// onto observes the host and adds its metrics to a page.
func (e *vipMeter) onto(page *metrics.Page) {
	e.mu.Lock()
	p := e.plan
	e.mu.Unlock()
	status, err := e.host.Status()
	if err != nil {
		return // the room reports the error, and counts it
	}
	if e.alive != nil && !e.alive() {
		status = stopped(status)
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
	if e.gated {
		gate, _ = host.Gate(links) // status reports its error
	}
	out := metrics.Elections{At: time.Now(), Gate: gate, Daemon: &metrics.Daemon{
		Running: status.PID != 0, Refused: status.Refused != nil, Leaving: status.Leaving != supervised.Stays,
		Restarts: uint64(max(status.Restarts, 0)),
	}}
	for _, v := range host.VIPs(election.Observation{Links: links, Agreed: agreed}, status, nil) {
		out.VIPs = append(out.VIPs, metricsOf(v))
	}
	var known []kube.Node
	known, out.Named = e.nodes()
	for _, n := range known {
		if n.ControlPlane {
			out.Controls++
		} else {
			out.Others++
		}
	}
	e.Onto(page, out)
}

// metricsOf are the metrics that follow from the status of a VIP.
func metricsOf(v inspect.VIP) metrics.VIP {
	m := metrics.VIP{Address: v.Address, Kind: v.For, State: v.State, Present: v.Here, Priority: v.Priority}
	for _, part := range v.Parts {
		if part.Counts {
			m.Parts = append(m.Parts, metrics.Part{Name: part.Name, Adds: part.Adds})
		}
	}
	return m
}
