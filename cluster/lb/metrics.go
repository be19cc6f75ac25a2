package lb

import (
	"context"
	"sync"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/redirect"
)

// meter passes on what the room asks of HAProxy and of the packet filter, and notes the answers for
// the room's metrics.
type meter struct {
	Daemon
	Filter

	mu   sync.Mutex
	seen metrics.Balancer
	late bool // the last probe timed out
}

func (m *meter) Running(ctx context.Context) (string, bool, error) {
	structure, running, err := m.Daemon.Running(ctx)
	m.note(func(s *metrics.Balancer) {
		if s.Running = running && err == nil; !s.Running {
			s.Servers, s.Ironic = nil, nil
		}
	})
	return structure, running, err
}

func (m *meter) Healthy(ctx context.Context) (bool, error) {
	healthy, err := m.Daemon.Healthy(ctx)
	m.note(func(s *metrics.Balancer) {
		m.late = err != nil
		s.Running = s.Running || healthy
	})
	return healthy, err
}

func (m *meter) Stats(ctx context.Context) ([]haproxy.Stat, error) {
	stats, err := m.Daemon.Stats(ctx)
	var servers []metrics.Server
	var ironic []metrics.IronicServer
	for _, s := range stats {
		one := metrics.Server{Name: s.Server, Address: s.Address.String(), Up: s.Up(),
			Sessions: s.Sessions}
		switch {
		case s.Disabled():
		case s.Backend == haproxy.Masters:
			servers = append(servers, one)
		case haproxy.IsIronic(s.Backend):
			ironic = append(ironic, metrics.IronicServer{Backend: s.Backend, Server: one})
		}
	}
	m.note(func(s *metrics.Balancer) { s.Servers, s.Ironic = servers, ironic })
	return stats, err
}

func (m *meter) Reload(ctx context.Context, structure string) (refused bool, err error) {
	refused, err = m.Daemon.Reload(ctx, structure)
	m.note(func(s *metrics.Balancer) { s.Reloads++ })
	return refused, err
}

func (m *meter) Ensure(r redirect.Rules) (bool, error) {
	changed, err := m.Filter.Ensure(r)
	if err == nil {
		m.note(func(s *metrics.Balancer) {
			wanted := len(r.Redirects) > 0
			if wanted && s.Redirect && changed { // another program has removed it
				s.Lost++
			}
			// The room asks nothing more of a HAProxy that hangs.
			if s.Redirect = wanted; !wanted && m.late {
				s.Running, s.Servers, s.Ironic = false, nil, nil
			}
		})
	}
	return changed, err
}

func (m *meter) EnsureIronic(r redirect.Rules) (bool, error) {
	changed, err := m.Filter.EnsureIronic(r)
	if err == nil {
		m.note(func(s *metrics.Balancer) {
			on := len(r.Redirects) > 0
			s.IronicRedirect = &on
		})
	}
	return changed, err
}

func (m *meter) note(what func(*metrics.Balancer)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	what(&m.seen)
}

// Metrics writes what the room's metrics are now. It may be called by any goroutine.
func (r *Room) Metrics(page *metrics.Page) {
	r.meter.mu.Lock()
	defer r.meter.mu.Unlock()
	r.meter.seen.Onto(page)
}
