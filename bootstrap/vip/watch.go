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

// Prober looks at what the VIP is held for. All calls are bounded in time by themselves, end at
// once with their context, and may be made side by side.
type Prober interface {
	API(ctx context.Context) health.API
	Ironic(ctx context.Context) bool
	Heir(ctx context.Context) release.Heir
}

// Watch runs the stop logic in real time and keeps its last word for the loop.
type Watch struct {
	prober   Prober
	remember func(release.Memory) error // keeps what later starts of this program must know
	wake     chan<- struct{}            // asks for a round when the verdict changes

	state      release.State  // where it starts, and then where it is; Run's alone
	remembered release.Memory // of state, or of what it was when that could last be kept

	looked  chan struct{} // closed after the first look
	verdict atomic.Pointer[release.Verdict]
}

// NewWatch makes a watch that goes on from a state.
func NewWatch(state release.State, prober Prober, remember func(release.Memory) error, wake chan<- struct{}) *Watch {
	return &Watch{
		prober: prober, remember: remember, wake: wake,
		state: state, remembered: state.Memory(), looked: make(chan struct{}),
	}
}

// Verdict is the last word. Before the first it waits for it: to hold the VIP and to have given it
// up are equally wrong then.
func (w *Watch) Verdict(ctx context.Context) (release.Verdict, error) {
	select {
	case <-w.looked:
		return *w.verdict.Load(), nil
	case <-ctx.Done():
		return release.Verdict{}, ctx.Err()
	}
}

// Run looks at the pace of health.BootstrapAPI until the context ends. It fails when it cannot
// remember what it saw, and can then be run again.
func (w *Watch) Run(ctx context.Context) error {
	ticker := time.NewTicker(health.BootstrapAPI().Interval)
	defer ticker.Stop()
	for {
		look := w.look(ctx)
		if ctx.Err() != nil {
			return nil // a probe that was cut short says nothing
		}
		next, verdict := w.state.Next(look)
		old := w.verdict.Swap(&verdict)
		if old == nil {
			close(w.looked)
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

// look asks the API, and what else the decision depends on now: once the VIP has been given up,
// only the API brings it back.
func (w *Watch) look(ctx context.Context) (l release.Observation) {
	if w.state.Released() {
		l.API = w.prober.API(ctx)
	} else {
		l = w.weigh(ctx)
	}
	l.At = time.Now()
	return l
}

// weigh asks the API. A ready one answers in milliseconds, and Ironic is left alone; once an answer
// is late or bad, Ironic is asked beside it, so that two servers that hang cost one timeout, and a
// ready API is never kept waiting for an Ironic that hangs.
func (w *Watch) weigh(ctx context.Context) (l release.Observation) {
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
		case l.API = <-api:
			answered = true
		case <-late.C:
		}
	}
	if l.API == health.Ready {
		return l
	}
	asked.Go(func() { ironic <- w.prober.Ironic(ctx) })
	if !answered {
		l.API = <-api
	}
	if l.API == health.Ready {
		return l
	}
	if l.API == health.ShuttingDown {
		l.Heir = w.prober.Heir(ctx)
	}
	l.Ironic = <-ironic
	return l
}
