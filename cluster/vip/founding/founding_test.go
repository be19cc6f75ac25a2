package founding

import (
	"context"
	"log/slog"
	"net/netip"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// last is the last one of two VIPs.
var last = netip.MustParseAddr("2001:db8::5")

// scout is a FAKE: it has seen what it is told at each second, and the last of it for ever.
type scout struct {
	ready, answered []bool // by second
	probes          atomic.Int64
}

func (s *scout) at(list []bool) bool { return list[min(max(int(s.probes.Load())-1, 0), len(list)-1)] }

func (s *scout) Ready(context.Context) (bool, string) {
	s.probes.Add(1)
	return s.at(s.ready), "it says so"
}

func (s *scout) Answered(_ context.Context, vip netip.Addr) bool {
	return vip == last && s.at(s.answered) // of both the last one
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
				f := New(Options{
					VIPs: []netip.Addr{netip.MustParseAddr("192.0.2.5"), last}, Prober: s, Wake: wake,
					Log: slog.New(slog.DiscardHandler),
				})
				done, start := make(chan error, 1), time.Now()
				go func() { done <- f.Run(ctx) }()
				select {
				case <-wake:
					if took := time.Since(start); took != tt.first || !f.First() {
						t.Errorf("it is the first one after %v, want %v", took, tt.first)
					}
				case <-time.After(time.Hour):
					if tt.first >= 0 || f.First() {
						t.Errorf("it is not the first one, want it after %v", tt.first)
					}
				}
				f.End() // as when the API has named a node
				time.Sleep(interval)
				probes := s.probes.Load()
				time.Sleep(time.Hour)
				if s.probes.Load() != probes || len(done) > 0 {
					t.Errorf("%d probes when all is known, and it has ended: %v", s.probes.Load()-probes, len(done) > 0)
				}
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
		})
	}
}
