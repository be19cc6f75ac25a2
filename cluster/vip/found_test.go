package vip

import (
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// scout is a FAKE: it has seen what it is told at each second, and the last of it for ever.
type scout struct {
	ready, answered []bool // by second
	looks           atomic.Int64
}

func (s *scout) at(list []bool) bool { return list[min(max(int(s.looks.Load())-1, 0), len(list)-1)] }

func (s *scout) Ready(context.Context) (bool, string) {
	s.looks.Add(1)
	return s.at(s.ready), "it says so"
}

func (s *scout) Answered(_ context.Context, vip netip.Addr) bool {
	return vip == ip("2001:db8::5") && s.at(s.answered) // of both the last one
}

// TestFounding holds when a node takes itself for the first one of its cluster: its own API server
// is ready, and five looks in a row have met nobody at any VIP. When that is known it looks no
// more, and does not end: who watches it would begin it anew.
func TestFounding(t *testing.T) {
	yes, no := []bool{true}, []bool{false}
	for _, tt := range []struct {
		name            string
		ready, answered []bool
		first           time.Duration // negative: never
	}{
		{"nobody is there", yes, no, 4 * time.Second},
		{"the API server comes late", []bool{false, false, false, true}, no, 7 * time.Second},
		{"it comes and goes", []bool{true, true, true, true, false, true}, no, 9 * time.Second},
		{"it never comes", no, no, -1},
		{"another has the VIP", yes, yes, -1},
		{"the VIP moves", yes, []bool{true, false, false, false, false, true}, -1},
		{"who had it has left", yes, []bool{true, true, false}, 6 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				wake := loop.NewWake()
				s := &scout{ready: tt.ready, answered: tt.answered}
				f := NewFounding(ips("192.0.2.5", "2001:db8::5"), s, wake, slog.New(slog.DiscardHandler))
				done, start := make(chan error, 1), time.Now()
				go func() { done <- f.Run(ctx) }()
				select {
				case <-wake:
					if took := time.Since(start); took != tt.first || !f.first.Load() {
						t.Errorf("it is the first one after %v, want %v", took, tt.first)
					}
				case <-time.After(time.Hour):
					if tt.first >= 0 || f.first.Load() {
						t.Errorf("it is not the first one, want it after %v", tt.first)
					}
				}
				f.over.Store(true) // as when the API has named a node
				time.Sleep(foundingPace)
				looks := s.looks.Load()
				time.Sleep(time.Hour)
				if s.looks.Load() != looks || len(done) > 0 {
					t.Errorf("%d looks when all is known, and it has ended: %v", s.looks.Load()-looks, len(done) > 0)
				}
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// founders is the first node of a cluster without a bootstrap machine, which the API has not named
// yet.
func founders(t *testing.T, r role.Role) (*world, *Founding) {
	t.Helper()
	c := cluster()
	c.Distribution = spec.Kubernetes
	w := newWorld(t, c, r)
	w.nodes, w.served = Heard[[]Node]{}, false
	f := NewFounding(w.plan.VIPs.API, nil, loop.NewWake(), slog.New(slog.DiscardHandler))
	w.room.MayFound(f)
	return w, f
}

// TestFirst holds what the first node of a cluster does: it holds the API's VIP alone, and nothing
// else, until the API names it; then it goes on without a change of that VIP's instance, and never
// again as the first one.
func TestFirst(t *testing.T) {
	w, f := founders(t, role.Master)
	if d := w.turn(); !d.Leave {
		t.Fatalf("before it is known that it is the first one: %+v", d.Config)
	}
	f.first.Store(true)
	d := w.turn()
	if len(d.Config.Instances) != 2 || !w.memory.Open {
		t.Fatalf("%d instances, its gate is open: %v", len(d.Config.Instances), w.memory.Open)
	}
	alone := instance(t, d, "192.0.2.5")
	if !slices.Equal(alone.Peers, []netip.Addr{keepalived.Group(alone.VIP)}) || alone.Source != ip("192.0.2.11") {
		t.Errorf("it speaks to %v as %v", alone.Peers, alone.Source)
	}
	for _, named := range [][]Node{nil, {}, nodes(0, 2)} { // no list, an empty one, and kubelets whose nodes nobody has called control plane yet
		w.nodes = said(named)
		if again := instance(t, w.turn(), "192.0.2.5"); !slices.Equal(again.Peers, alone.Peers) {
			t.Errorf("with %d nodes named it speaks to %v", len(named), again.Peers)
		}
	}
	w.nodes = said(nodes(1, 0))
	if again := instance(t, w.turn(), "192.0.2.5"); !slices.Equal(again.Peers, alone.Peers) || again.Priority != alone.Priority {
		t.Errorf("named, it speaks to %v at %d, want %v at %d", again.Peers, again.Priority, alone.Peers, alone.Priority)
	}
	w.nodes = said(nodes(2, 0))
	if joined := instance(t, w.turn(), "192.0.2.5"); !slices.Equal(joined.Peers, ips("192.0.2.12")) {
		t.Errorf("with a second node it speaks to %v", joined.Peers)
	}
	if !f.over.Load() {
		t.Error("it goes on to look whether it is the first one")
	}
	w.again(role.Master)
	w.nodes = Heard[[]Node]{}
	if again := instance(t, w.turn(), "192.0.2.5"); !slices.Equal(again.Peers, ips("192.0.2.12")) {
		t.Errorf("after a restart it speaks to %v", again.Peers)
	}
}

// TestFirstAfterRestart holds that a first node which starts anew before the API has named it
// leaves what runs as it is: somebody else may have the VIP.
func TestFirstAfterRestart(t *testing.T) {
	w, f := founders(t, role.Master)
	f.first.Store(true)
	w.turn()
	w.again(role.Master)
	w.room.MayFound(NewFounding(w.plan.VIPs.API, nil, loop.NewWake(), slog.New(slog.DiscardHandler)))
	w.status = supervised.Status{PID: 7, Instances: map[string]supervised.Instance{"ostest_API_0": {State: supervised.Master}}}
	if d := w.turn(); !d.Leave {
		t.Errorf("it has become %+v", d.Config)
	}
}
