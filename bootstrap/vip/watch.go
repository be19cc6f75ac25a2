package vip

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// Prober looks at what the VIP is held for. Both calls are bounded in time by themselves.
type Prober interface {
	API(ctx context.Context) health.API
	Ironic(ctx context.Context) bool
}

// Watch runs the stop logic in real time and keeps its last word for the loop.
type Watch struct {
	Release Release // where it starts, and then where it is; Run's alone
	Prober  Prober
	// Remember keeps what later starts of this program must know.
	Remember func(Memory) error
	Wake     chan<- struct{} // asks for a round when the verdict changes

	verdict atomic.Pointer[Verdict]
}

// Verdict is the last word, false before the first.
func (w *Watch) Verdict() (Verdict, bool) {
	v := w.verdict.Load()
	if v == nil {
		return Verdict{}, false
	}
	return *v, true
}

// Run looks once a second until the context ends. It fails when it cannot remember what it saw, and can then be run again.
func (w *Watch) Run(ctx context.Context) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		look := w.look(ctx)
		if ctx.Err() != nil {
			return nil // a probe that was cut short says nothing
		}
		next, verdict := w.Release.Next(look)
		if old := w.verdict.Swap(&verdict); old == nil || *old != verdict {
			loop.Wake(w.Wake)
		}
		before := w.Release.Memory()
		w.Release = next
		if next.Memory() != before {
			if err := w.Remember(next.Memory()); err != nil {
				return fmt.Errorf("remember what the API was: %w", err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

func (w *Watch) look(ctx context.Context) Look {
	api := w.Prober.API(ctx)
	l := Look{API: api, At: time.Now()}
	if api != health.Ready {
		l.Ironic = w.Prober.Ironic(ctx)
	}
	return l
}
