package dns

import (
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
)

// meter holds the values of the room's metrics.
type meter struct {
	mu    sync.Mutex
	seen  metrics.Names
	stale time.Time // since when CoreDNS has not had the last configuration; zero if it has it
}

func (m *meter) decided(source string, nodes, upstreams int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen.Source, m.seen.Nodes, m.seen.Upstreams = source, nodes, upstreams
}

// changed notes another Corefile. A CoreDNS that starts later reads it by itself.
func (m *meter) changed(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stale.IsZero() && m.seen.Running {
		m.stale = now
	}
}

// runs notes whether CoreDNS runs. Another process has read the Corefile that is there.
func (m *meter) runs(running, another bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seen.Running = running; another || !running {
		m.stale = time.Time{}
	}
}

func (m *meter) reloaded() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen.Reloads++
	m.stale = time.Time{}
}

// Metrics writes what the room's metrics are now. It may be called by any goroutine.
func (r *Room) Metrics(page *metrics.Page) {
	r.meter.mu.Lock()
	defer r.meter.mu.Unlock()
	seen := r.meter.seen
	if !r.meter.stale.IsZero() {
		seen.Stale = time.Since(r.meter.stale)
	}
	seen.Onto(page)
}
