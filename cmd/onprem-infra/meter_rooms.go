//go:build remote

package main

import (
	"context"
	"sync"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/dns"
	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/cluster/lb"
	"github.com/onprem-infra/onprem-infra/cluster/mdns"
	"github.com/onprem-infra/onprem-infra/cluster/mdns/announce"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/redirect"
)

// balancing is HAProxy and the packet filter as the room sees them, with a note of what it saw:
// whoever asks for metrics asks nobody else.
type balancing struct {
	lb.Daemon
	lb.Filter

	mu     sync.Mutex
	seen   metrics.Balancer
	silent bool // it did not answer when it was asked last, and did not refuse either
}

func (b *balancing) Running(ctx context.Context) (string, bool, error) {
	structure, running, err := b.Daemon.Running(ctx)
	b.note(func(s *metrics.Balancer) {
		if s.Running = running && err == nil; !s.Running {
			s.Servers = nil
		}
	})
	return structure, running, err
}

func (b *balancing) Healthy(ctx context.Context) (bool, error) {
	healthy, err := b.Daemon.Healthy(ctx)
	b.note(func(s *metrics.Balancer) {
		b.silent = err != nil
		s.Running = s.Running || healthy
	})
	return healthy, err
}

func (b *balancing) Stats(ctx context.Context) ([]haproxy.Stat, error) {
	stats, err := b.Daemon.Stats(ctx)
	var servers []metrics.Server
	for _, s := range stats {
		if s.Backend == haproxy.Masters && !s.Disabled() {
			servers = append(servers, metrics.Server{Name: s.Server, Address: s.Address.String(), Up: s.Up(), Sessions: s.Sessions})
		}
	}
	b.note(func(s *metrics.Balancer) { s.Servers = servers })
	return stats, err
}

func (b *balancing) Reload(ctx context.Context, structure string) (refused bool, err error) {
	refused, err = b.Daemon.Reload(ctx, structure)
	b.note(func(s *metrics.Balancer) { s.Reloads++ })
	return refused, err
}

func (b *balancing) Ensure(r redirect.Rules) (bool, error) {
	changed, err := b.Filter.Ensure(r)
	if err == nil {
		b.note(func(s *metrics.Balancer) {
			wanted := len(r.Redirects) > 0
			if wanted && s.Redirect && changed { // it was there, and this program has not taken it away
				s.Lost++
			}
			if s.Redirect = wanted; !wanted && b.silent { // one that hangs: the room asks it for nothing more
				s.Running, s.Servers = false, nil
			}
		})
	}
	return changed, err
}

func (b *balancing) note(what func(*metrics.Balancer)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	what(&b.seen)
}

func (b *balancing) onto(page *metrics.Page) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seen.Onto(page)
}

// naming is the host and CoreDNS as the room sees them, with a note of what it saw and did.
type naming struct {
	dns.Host
	dns.Daemon

	mu    sync.Mutex
	seen  metrics.Names
	stale time.Time // since when CoreDNS has another configuration than the last one; zero while it has that
}

func (n *naming) decide(room func(dns.Snapshot) (dns.Desired, loop.Reasons)) func(dns.Snapshot) (dns.Desired, loop.Reasons) {
	sources := map[string]string{"the API": metrics.FromAPI, "memory": metrics.FromMemory, "nobody yet": metrics.FromNobody}
	return func(s dns.Snapshot) (dns.Desired, loop.Reasons) {
		want, why := room(s)
		n.mu.Lock()
		defer n.mu.Unlock()
		n.seen.Source, n.seen.Nodes, n.seen.Upstreams = sources[s.Origin], len(want.Hosts), len(want.Corefile.Upstreams)
		return want, why
	}
}

func (n *naming) Write(path string, text []byte) (changed bool, err error) {
	changed, err = n.Host.Write(path, text)
	n.mu.Lock()
	defer n.mu.Unlock()
	if changed && path == dns.Config && n.stale.IsZero() && n.seen.Running {
		n.stale = time.Now()
	}
	return changed, err
}

func (n *naming) Running() (running, another bool) {
	running, another = n.Daemon.Running()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.seen.Running = running; another || !running { // one that has just begun has read what is there
		n.stale = time.Time{}
	}
	return running, another
}

func (n *naming) Signal(sig syscall.Signal) error {
	err := n.Daemon.Signal(sig)
	n.mu.Lock()
	defer n.mu.Unlock()
	if err == nil {
		n.seen.Reloads++
		n.stale = time.Time{}
	}
	return err
}

func (n *naming) onto(page *metrics.Page) {
	n.mu.Lock()
	defer n.mu.Unlock()
	seen := n.seen
	if !n.stale.IsZero() {
		seen.Stale = time.Since(n.stale)
	}
	seen.Onto(page)
}

// announcing is what has become of what is announced.
type announcing struct {
	mu   sync.Mutex
	seen metrics.Announcement
}

func (a *announcing) decide(room func(mdns.Snapshot) (mdns.Desired, loop.Reasons)) func(mdns.Snapshot) (mdns.Desired, loop.Reasons) {
	return func(s mdns.Snapshot) (mdns.Desired, loop.Reasons) {
		seen := metrics.Announcement{}
		for _, state := range []announce.State{announce.Probing, announce.Announcing, announce.Established, announce.Lost} {
			seen[string(state)] = 0
		}
		for _, claim := range s.Claims {
			seen[string(claim.State)]++
		}
		a.mu.Lock()
		a.seen = seen
		a.mu.Unlock()
		return room(s)
	}
}

func (a *announcing) onto(page *metrics.Page) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen.Onto(page)
}
