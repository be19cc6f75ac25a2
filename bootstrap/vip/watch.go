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
	Prober Prober
	// Remember records for later starts of this program that the API has been ready once.
	Remember func() error
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

// Run looks once a second until the context ends. It fails when it cannot remember that the API was ready.
func (w *Watch) Run(ctx context.Context, release Release) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	remembered := release.SeenReady()
	for {
		look := w.look(ctx)
		if ctx.Err() != nil {
			return nil // a probe that was cut short says nothing
		}
		var verdict Verdict
		release, verdict = release.Next(look)
		if !remembered && release.SeenReady() {
			if err := w.Remember(); err != nil {
				return fmt.Errorf("remember that the API was ready: %w", err)
			}
			remembered = true
		}
		if old := w.verdict.Swap(&verdict); old == nil || *old != verdict {
			loop.Wake(w.Wake)
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
