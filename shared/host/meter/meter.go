// Package meter collects the metrics of a host's VIPs.
package meter

import (
	"context"
	"maps"
	"net/netip"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/advert"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/capture"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/node"
	"github.com/onprem-infra/onprem-infra/shared/host/services"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Options are what the metrics of a host's VIPs come from.
type Options struct {
	Plan   plan.Plan
	Host   node.Host
	Checks []vrrp.CheckName
	Passes func(vrrp.CheckName) bool // nil: the host makes no checks, and has no eligibility gate
	Nodes  func() (nodes []kube.Node, synced bool)
	Alive  func() bool // whether keepalived's parent answers; nil: it is not asked
	Proven string      // the cluster's timing if it needs a proof, whatever Plan has; else empty
	Late   func() bool // nodes wait to change to a slower timing than Proven; nil if that is empty
}

// VIPs collects the metrics while the VIPs' room reconciles. Its methods may be called by any
// goroutine.
type VIPs struct {
	*metrics.Recorder
	host  node.Host
	gated bool
	nodes func() (nodes []kube.Node, synced bool)
	alive func() bool

	proven string // the cluster's timing if it needs a proof; else empty
	late   func() bool

	mu   sync.Mutex
	plan plan.Plan
}

// New makes the metrics of a host.
func New(o Options) *VIPs {
	instances := map[netip.Addr]string{}
	for _, v := range election.All(o.Plan) {
		instances[v.Address] = string(v.Instance)
	}
	return &VIPs{
		Recorder: metrics.NewRecorder(instances, o.Checks, o.Passes), host: o.Host, plan: o.Plan,
		gated: o.Passes != nil, nodes: o.Nodes, alive: o.Alive, proven: o.Proven,
		late: o.Late,
	}
}

// parentWithin is the timeout for keepalived's parent, which normally answers at once.
const parentWithin = time.Second

// ParentAnswers asks keepalived's parent each time, over one connection.
func ParentAnswers(p plan.Plan) func() bool {
	parent := services.Supervisor(p)
	return func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), parentWithin)
		defer cancel()
		_, err := parent.Good(ctx)
		return err == nil
	}
}

// stopped is the last status of a parent that exited or hangs, without what is no longer known:
// that keepalived runs, or holds a VIP.
func stopped(s supervised.Status) supervised.Status {
	s.PID, s.Instances = 0, maps.Clone(s.Instances)
	for name, i := range s.Instances {
		s.Instances[name] = supervised.Instance{State: supervised.Init, Priority: i.Priority}
	}
	return s
}

// SetPlan sets the plan after a migration.
func (m *VIPs) SetPlan(p plan.Plan) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.plan = p
}

// Received records a received advert, unless VRRP routers ignore it: otherwise any host could
// make VIPs seem to move.
func (m *VIPs) Received(h capture.Received) {
	m.mu.Lock()
	advertInterval := m.plan.Timing.Model.Advert
	m.mu.Unlock()
	for _, vip := range h.VIPs {
		if h.Accepted(vrrp.HopLimited(vip, advertInterval)) {
			m.Advert(vip, h.From, h.Interval, h.Priority == advert.Release, h.At)
		}
	}
}

// Page observes the host and adds its metrics to a page.
func (m *VIPs) Page(page *metrics.Page) {
	m.mu.Lock()
	p := m.plan
	m.mu.Unlock()
	status, err := m.host.Status()
	if err != nil {
		return // the room reports the error, and counts it
	}
	if m.alive != nil && !m.alive() {
		status = stopped(status)
	}
	links, err := m.host.Links()
	if err != nil {
		return
	}
	agreed, _, err := m.host.Agreed()
	if err != nil {
		return
	}
	host, gate := inspect.Inspector{Plan: p, Files: m.host.Files()}, ""
	if m.gated {
		gate, _ = host.Gate(links) // status reports its error
	}
	out := metrics.Elections{At: time.Now(), Gate: gate, Daemon: &metrics.Daemon{
		Running: status.PID != 0, Refused: status.Refused != nil,
		Leaving:  status.Leaving != supervised.Stays,
		Restarts: uint64(max(status.Restarts, 0)),
	}}
	if m.proven != "" {
		out.Proof = &metrics.Proof{Late: m.late(), FellBack: p.Timing.Profile != m.proven}
	}
	seen := election.Observation{Links: links, Agreed: agreed}
	for _, v := range inspect.Elected(host.VIPs(seen, status, nil)) {
		out.VIPs = append(out.VIPs, metricsOf(v))
	}
	var known []kube.Node
	known, out.Named = m.nodes()
	for _, n := range known {
		if n.ControlPlane {
			out.Controls++
		} else {
			out.Others++
		}
	}
	m.Onto(page, out)
}

// metricsOf are the metrics that follow from the status of a VIP.
func metricsOf(v inspect.VIP) metrics.VIP {
	about := metrics.VIP{Address: v.Address, Kind: v.For, State: v.State, Present: v.Here,
		Priority: v.Priority}
	for _, part := range v.Parts {
		if part.Counts {
			about.Parts = append(about.Parts, metrics.Part{Name: part.Name, Adds: part.Adds})
		}
	}
	return about
}
