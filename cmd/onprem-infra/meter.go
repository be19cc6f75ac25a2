//go:build remote

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/healthz"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/proc"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// meter is what a program says of itself to a Prometheus. Its methods may be called by anybody.
type meter struct {
	room  string
	began time.Time

	mu      sync.Mutex
	plan    plan.Plan
	rounds  uint64
	turned  time.Time
	faults  map[string]uint64
	watches []followed
	parts   []func(*metrics.Page) // each is called without the lock
}

// followed is something that the API is asked to tell of.
type followed struct {
	name  string
	heard func() (synced bool, last time.Time)
}

// about says whose program this is; it may be said again when that changes.
func (m *meter) about(p plan.Plan) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.plan = p
}

// follows says what the program follows by watches of the API.
func (m *meter) follows(name string, heard func() (bool, time.Time)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watches = append(m.watches, followed{name, heard})
}

// says adds what this program alone has to say.
func (m *meter) says(part func(*metrics.Page)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.parts = append(m.parts, part)
}

func (m *meter) turn() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rounds, m.turned = m.rounds+1, time.Now()
}

// ended counts a step that failed, but not for having been told to end.
func (m *meter) ended(ctx context.Context, step string, err error) {
	if err == nil || ctx.Err() != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.faults == nil {
		m.faults = map[string]uint64{}
	}
	m.faults[step]++
}

// metered are the steps of a room whose turns and faults are counted.
func metered[S, D any](steps loop.Steps[S, D], m *meter) loop.Steps[S, D] {
	observe, publish, apply := steps.Observe, steps.Publish, steps.Apply
	steps.Observe = func(ctx context.Context) (S, error) {
		m.turn()
		seen, err := observe(ctx)
		m.ended(ctx, metrics.StepObserve, err)
		return seen, err
	}
	if publish != nil {
		steps.Publish = func(ctx context.Context, want D) error {
			err := publish(ctx, want)
			m.ended(ctx, metrics.StepApply, err)
			return err
		}
	}
	steps.Apply = func(ctx context.Context, want D) error {
		err := apply(ctx, want)
		m.ended(ctx, metrics.StepApply, err)
		return err
	}
	return steps
}

// text is the page.
func (m *meter) text() []byte {
	var page metrics.Page
	m.program().Onto(&page)
	m.mu.Lock()
	parts := slices.Clone(m.parts)
	m.mu.Unlock()
	for _, part := range parts {
		part(&page)
	}
	return page.Text()
}

func (m *meter) program() metrics.Program {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	s := metrics.Program{
		Room: m.room, Version: "unknown", Go: runtime.Version(), Cluster: m.plan.Cluster.Name, Timing: m.plan.Timing.Profile, Mode: string(m.plan.VRRP.Mode),
		Rounds: m.rounds, Turned: ago(now, m.turned), Faults: maps.Clone(m.faults),
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		s.Version = info.Main.Version
	}
	for _, w := range m.watches {
		synced, last := w.heard()
		s.Watches = append(s.Watches, metrics.Watch{Name: w.name, Synced: synced, Heard: ago(now, last)})
	}
	if used, err := proc.OwnUsage(); err == nil {
		s.Process = metrics.Process{CPU: used.CPU, Resident: used.Resident, Started: m.began}
	}
	return s
}

// ago is how long ago something was, negative when it has never been.
func ago(now, then time.Time) time.Duration {
	if then.IsZero() {
		return -1
	}
	return max(now.Sub(then), 0)
}

// pages are those of a program.
func (m *meter) pages() map[string]healthz.Page {
	return map[string]healthz.Page{"/metrics": {Type: metrics.ContentType, Text: m.text}}
}

// everyAddress is how often a program looks whether this node still has the addresses at which it
// says its metrics to others.
const everyAddress = 5 * time.Second

// serve says the metrics of a program that no kubelet asks for its health.
func (m *machine) serve(ctx context.Context, p plan.Plan, port uint16) {
	m.watch(ctx, "metrics of this host", func(ctx context.Context) error { return healthz.Serve(ctx, port, nil, m.meter.pages()) })
	m.publish(ctx, p, port)
}

// publish says the metrics to others where the cluster asks for that: at the node's addresses and
// never at a VIP, whoever holds it. At the loopback they are said in any case.
func (m *machine) publish(ctx context.Context, p plan.Plan, port uint16) {
	if p.Metrics != spec.MetricsNode {
		return
	}
	own := func() ([]netip.AddrPort, error) { return ownAddresses(p, port) }
	m.watch(ctx, "metrics", func(ctx context.Context) error { return publishAt(ctx, own, everyAddress, m.meter.pages()) })
}

// publishAt publishes pages at this host's own addresses until they are others, or ctx ends.
func publishAt(ctx context.Context, own func() ([]netip.AddrPort, error), every time.Duration, pages map[string]healthz.Page) error {
	at, err := own()
	if err != nil {
		return err
	}
	ctx, end := context.WithCancel(ctx)
	var looking sync.WaitGroup
	defer looking.Wait()
	defer end()
	looking.Go(func() {
		defer end()
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if now, err := own(); err == nil && !slices.Equal(now, at) {
				return
			}
		}
	})
	return healthz.Publish(ctx, at, pages)
}

// ownAddresses are those of this host that its programs have agreed on, or, as long as they have
// not, that they would agree on.
func ownAddresses(p plan.Plan, port uint16) ([]netip.AddrPort, error) {
	agreed, _, err := nodeVIPHost{}.Agreed()
	if err != nil {
		return nil, err
	}
	vips := p.VIPs.All()
	if len(agreed) == 0 {
		links, err := link.Snapshot()
		if err != nil {
			return nil, fmt.Errorf("read links: %w", err)
		}
		chosen, err := addr.ForNode(links, addr.Wish{VIPs: vips})
		if err != nil {
			return nil, err
		}
		agreed = chosen.Addresses
	}
	var at []netip.AddrPort
	for _, a := range agreed {
		if !slices.Contains(vips, a) {
			at = append(at, netip.AddrPortFrom(a, port))
		}
	}
	if len(at) == 0 {
		return nil, errors.New("this host has no address of its own yet")
	}
	return at, nil
}
