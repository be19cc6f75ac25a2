// Package program counts what every program reports of itself: its rounds, their faults, and its
// watches of the API.
package program

import (
	"context"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
)

// Meter counts what every program reports of itself. Its methods may be called by any goroutine.
type Meter struct {
	began time.Time
	usage func() (metrics.Process, error)

	mu      sync.Mutex
	program metrics.Program // the counts so far
	last    time.Time
	watches []followed
	parts   []func(*metrics.Page) // each is called without the lock
}

// followed is a watch of the API.
type followed struct {
	name  string
	state func() (synced bool, last time.Time)
}

// NewMeter makes the meter of a room's program, which starts now; usage reads what the process
// uses.
func NewMeter(room string, usage func() (metrics.Process, error)) *Meter {
	m := &Meter{began: time.Now(), usage: usage}
	m.program = metrics.Program{Room: room, Version: "unknown", Go: runtime.Version(),
		Faults: map[string]uint64{}}
	if info, ok := debug.ReadBuildInfo(); ok {
		m.program.Version = info.Main.Version
	}
	return m
}

// Describe sets the cluster that the program belongs to, and how its nodes run VRRP.
func (m *Meter) Describe(cluster, timing, mode string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.program.Cluster, m.program.Timing, m.program.Mode = cluster, timing, mode
}

// Follow adds a watch of the API.
func (m *Meter) Follow(name string, state func() (synced bool, last time.Time)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watches = append(m.watches, followed{name, state})
}

// Add adds what this program alone reports.
func (m *Meter) Add(part func(*metrics.Page)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.parts = append(m.parts, part)
}

func (m *Meter) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.program.Rounds++
	m.last = time.Now()
}

// end counts a step that failed, unless it failed because the program ends.
func (m *Meter) end(ctx context.Context, step string, err error) {
	if err == nil || ctx.Err() != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.program.Faults[step]++
}

// Count makes a loop's steps count rounds and failures.
func Count[S, D any](steps loop.Steps[S, D], m *Meter) loop.Steps[S, D] {
	observe := steps.Observe
	steps.Observe = func(ctx context.Context) (S, error) {
		m.begin()
		seen, err := observe(ctx)
		m.end(ctx, metrics.StepObserve, err)
		return seen, err
	}
	counted := func(apply func(context.Context, D) error) func(context.Context, D) error {
		return func(ctx context.Context, want D) error {
			err := apply(ctx, want)
			m.end(ctx, metrics.StepApply, err)
			return err
		}
	}
	if steps.Publish != nil {
		steps.Publish = counted(steps.Publish)
	}
	steps.Apply = counted(steps.Apply)
	return steps
}

// Text formats the program's metrics for Prometheus.
func (m *Meter) Text() []byte {
	var page metrics.Page
	m.now().Onto(&page)
	m.mu.Lock()
	parts := slices.Clone(m.parts)
	m.mu.Unlock()
	for _, part := range parts {
		part(&page)
	}
	return page.Text()
}

func (m *Meter) now() metrics.Program {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, p := time.Now(), m.program
	p.Faults, p.Age = maps.Clone(p.Faults), ago(now, m.last)
	for _, w := range m.watches {
		synced, last := w.state()
		p.Watches = append(p.Watches,
			metrics.Watch{Name: w.name, Synced: synced, Age: ago(now, last)})
	}
	if used, err := m.usage(); err == nil {
		p.Process, p.Process.Started = used, m.began
	}
	p.Goroutines = runtime.NumGoroutine()
	return p
}

// ago is the time since an event, negative if there was none.
func ago(now, then time.Time) time.Duration {
	if then.IsZero() {
		return -1
	}
	return max(now.Sub(then), 0)
}
