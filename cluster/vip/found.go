package vip

import (
	"context"
	"log/slog"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// A control plane that has no bootstrap machine begins with its first node, and everything there
// goes by the API's VIP: its own kubelet makes itself known there, and whoever gives nodes the
// right to read the list of nodes asks there. So while the API has named no node yet, a node whose
// own API server is ready holds the VIP as long as nobody else has it.

const (
	// foundingPace is the time between two looks.
	foundingPace = time.Second
	// unclaimed is how many looks in a row must have met nobody at the VIP: longer than a VIP takes
	// to move from one node to another.
	unclaimed = 5
)

// Scout looks at what a founder depends on.
type Scout interface {
	// Ready says whether this node's own API server is ready, and in a few words what it said.
	Ready(ctx context.Context) (ready bool, why string)
	// Answered says whether a host has the API VIP: it takes connections there, or refuses them.
	Answered(ctx context.Context, vip netip.Addr) bool
}

// Founding finds out whether this node is the first one of its cluster. Its methods may be called
// by anybody.
type Founding struct {
	vips  []netip.Addr
	scout Scout
	wake  chan<- struct{}
	log   *slog.Logger

	first, over atomic.Bool
}

// NewFounding looks at nothing yet. vips are those of the API.
func NewFounding(vips []netip.Addr, scout Scout, wake chan<- struct{}, log *slog.Logger) *Founding {
	return &Founding{vips: vips, scout: scout, wake: wake, log: log}
}

// Run looks until this node is the first one, or the API has named one that is. It returns when ctx
// ends: whoever keeps it running would have it look anew, and find that somebody has the VIP: this
// node.
func (f *Founding) Run(ctx context.Context) error {
	f.find(ctx)
	<-ctx.Done()
	return nil
}

func (f *Founding) find(ctx context.Context) {
	tick := time.NewTicker(foundingPace)
	defer tick.Stop()
	said := ""
	for alone := 0; !f.over.Load(); {
		free, why := f.look(ctx)
		if ctx.Err() == nil && why != said {
			said = why
			f.log.Info("the API has named no node yet", "this node may hold its VIP", free, "why", why)
		}
		if alone++; !free {
			alone = 0
		}
		if alone >= unclaimed && ctx.Err() == nil {
			f.first.Store(true)
			loop.Wake(f.wake)
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// look is one look at all that counts.
func (f *Founding) look(ctx context.Context) (free bool, why string) {
	ctx, cancel := context.WithTimeout(ctx, foundingPace)
	defer cancel()
	if ready, why := f.scout.Ready(ctx); !ready {
		return false, "this node's own API server: " + why
	}
	for _, vip := range f.vips {
		if f.scout.Answered(ctx, vip) {
			return false, "another host has " + vip.String()
		}
	}
	return true, "its own API server is ready, and nobody has the VIP"
}

// MayFound has the room hold the API VIP alone once it is known that this node is the first one of
// its cluster.
func (r *Room) MayFound(f *Founding) { r.founding = f }

// founds says whether this node holds the VIP as the first one of its cluster. It is over as soon
// as the API names a control plane node, and is not remembered: after a restart somebody else may
// have the VIP.
func (r *Room) founds() bool {
	if r.founding == nil {
		return false
	}
	if len(r.memory.Nodes) > 0 {
		r.founding.over.Store(true)
		return false
	}
	return r.founding.first.Load()
}
