// Package founding finds out whether this node is the first one of a cluster that has no bootstrap
// machine.
//
// In such a cluster everything goes by the API VIP from the start: the first kubelet registers its
// Node there. So while the API has named no node, a node whose own API server is ready holds the
// VIP if no other host answers for it.
package founding

import (
	"context"
	"log/slog"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/loop"
)

const (
	// interval is the time between two probes.
	interval = time.Second
	// unanswered is how many probes in a row must find no holder of the VIP: longer than a VIP
	// takes to move from one node to another.
	unanswered = 5
)

// Prober probes what the decision depends on.
type Prober interface {
	// Ready reports whether this node's own API server is ready, and in a few words what it
	// answered.
	Ready(ctx context.Context) (ready bool, why string)
	// Answered reports whether a host has the VIP: it accepts connections there, or refuses them.
	Answered(ctx context.Context, vip netip.Addr) bool
}

// Options are what a Founding needs.
type Options struct {
	VIPs   []netip.Addr // of the API
	Prober Prober
	Wake   chan<- struct{} // asks for a round when this node is the first one
	Log    *slog.Logger
}

// Founding finds out whether this node is the first one. Its methods may be called by several
// goroutines.
type Founding struct {
	options     Options
	first, over atomic.Bool
}

// New makes a Founding that has probed nothing yet.
func New(o Options) *Founding { return &Founding{options: o} }

// First reports whether this node is the first one.
func (f *Founding) First() bool { return f.first.Load() }

// End stops the probes: the API has named a node.
func (f *Founding) End() { f.over.Store(true) }

// Run probes until the answer is known, and returns when ctx ends. If it returned earlier its
// caller would start it anew, and it would find that a host has the VIP: this node.
func (f *Founding) Run(ctx context.Context) error {
	f.find(ctx)
	<-ctx.Done()
	return nil
}

func (f *Founding) find(ctx context.Context) {
	inRow, logged := 0, ""
	for range loop.Every(ctx, interval) {
		if f.over.Load() {
			return
		}
		free, why := f.probe(ctx)
		if ctx.Err() == nil && why != logged {
			logged = why
			f.options.Log.Info("the API has named no node yet", "this node may hold its VIP", free,
				"why", why)
		}
		if inRow++; !free {
			inRow = 0
		}
		if inRow >= unanswered && ctx.Err() == nil {
			f.first.Store(true)
			loop.Wake(f.options.Wake)
			return
		}
	}
}

// probe is one probe of all that the decision depends on.
func (f *Founding) probe(ctx context.Context) (free bool, why string) {
	ctx, cancel := context.WithTimeout(ctx, interval)
	defer cancel()
	if ready, why := f.options.Prober.Ready(ctx); !ready {
		return false, "this node's own API server: " + why
	}
	for _, vip := range f.options.VIPs {
		if f.options.Prober.Answered(ctx, vip) {
			return false, "another host has " + vip.String()
		}
	}
	return true, "its own API server is ready, and no host has the VIP"
}
