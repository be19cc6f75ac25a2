package vip

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/release"
)

// Prober probes the services that need the VIP here. All calls bound their time themselves, end with
// their context, and may be made side by side.
type Prober interface {
	API(ctx context.Context) health.API
	Ironic(ctx context.Context) bool
	Heir(ctx context.Context) release.Heir
}

// Watch runs the release logic in real time and keeps its last verdict.
type Watch struct {
	prober   Prober
	remember func(release.Memory) error // keeps what later starts of this program must know
	wake     chan<- struct{}            // asks for a round when the verdict changes

	state      release.State  // for Run alone
	remembered release.Memory // of state, or of the last one that could be kept

	probed  chan struct{} // closed after the first round of probes
	verdict atomic.Pointer[release.Verdict]
}

// NewWatch makes a watch that continues from a state.
func NewWatch(state release.State, prober Prober, remember func(release.Memory) error, wake chan<- struct{}) *Watch {
	return &Watch{
		prober: prober, remember: remember, wake: wake,
		state: state, remembered: state.Memory(), probed: make(chan struct{}),
	}
}

// Verdict is the last verdict. It waits for the first: neither holding nor releasing is right before.
func (w *Watch) Verdict(ctx context.Context) (release.Verdict, error) {
	select {
	case <-w.probed:
		return *w.verdict.Load(), nil
	case <-ctx.Done():
		return release.Verdict{}, ctx.Err()
	}
}

// Run probes at the pace of health.BootstrapAPI until the context ends. It fails if it cannot keep
// its memory, and can then be run again.
func (w *Watch) Run(ctx context.Context) error {
	ticker := time.NewTicker(health.BootstrapAPI().Interval)
	defer ticker.Stop()
	for {
		found := w.probe(ctx)
		if ctx.Err() != nil {
			return nil // a probe that was cut short proves nothing
		}
		next, verdict := w.state.Next(found)
		old := w.verdict.Swap(&verdict)
		if old == nil {
			close(w.probed)
		} else if *old != verdict {
			loop.Wake(w.wake)
		}
		w.state = next
		if memory := next.Memory(); memory != w.remembered {
			if err := w.remember(memory); err != nil {
				return fmt.Errorf("remember what the API was: %w", err)
			}
			w.remembered = memory
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// probe probes the API, and what else the decision depends on: if the VIP is released, only the API
// brings it back.
func (w *Watch) probe(ctx context.Context) (o release.Observation) {
	if w.state.Released() {
		o.API = w.prober.API(ctx)
	} else {
		o = w.probeAll(ctx)
	}
	o.At = time.Now()
	return o
}

// probeAll probes the API. A ready one answers in milliseconds, and Ironic is not probed. If the
// answer is late or bad, Ironic is probed beside it: two servers that hang then cost one timeout, and
// a ready API never waits for an Ironic that hangs.
func (w *Watch) probeAll(ctx context.Context) (o release.Observation) {
	var asked sync.WaitGroup
	defer asked.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	api, ironic := make(chan health.API, 1), make(chan bool, 1)
	asked.Go(func() { api <- w.prober.API(ctx) })
	answered := false
	if after := w.state.IronicAfter(); after > 0 {
		late := time.NewTimer(after)
		defer late.Stop()
		select {
		case o.API = <-api:
			answered = true
		case <-late.C:
		}
	}
	if o.API == health.Ready {
		return o
	}
	asked.Go(func() { ironic <- w.prober.Ironic(ctx) })
	if !answered {
		o.API = <-api
	}
	if o.API == health.Ready {
		return o
	}
	if o.API == health.ShuttingDown {
		o.Heir = w.prober.Heir(ctx)
	}
	o.Ironic = <-ironic
	return o
}
