package vip

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
)

// prober answers from a schedule: what the API is from each second on.
type prober struct {
	api    func(since time.Duration) health.API
	ironic func(since time.Duration) bool
	start  time.Time
	delay  time.Duration // how long each probe takes
	asked  int           // how often Ironic was
}

func (p *prober) API(ctx context.Context) health.API {
	p.pause(ctx)
	return p.api(time.Since(p.start))
}

func (p *prober) Ironic(ctx context.Context) bool {
	p.pause(ctx)
	p.asked++
	return p.ironic != nil && p.ironic(time.Since(p.start))
}

func (p *prober) pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(p.delay):
	}
}

func readyUntil(end time.Duration) func(time.Duration) health.API {
	return func(since time.Duration) health.API {
		if since < end {
			return health.Ready
		}
		return health.Gone
	}
}

// run starts a Watch in virtual time and returns a way to read its verdict after a while.
func run(t *testing.T, p *prober) (w *Watch, remembered *[]Memory) {
	t.Helper()
	p.start = time.Now()
	remembered = new([]Memory)
	w = &Watch{Prober: p, Wake: make(chan struct{}, 1), Remember: func(m Memory) error { *remembered = append(*remembered, m); return nil }}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- w.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return w, remembered
}

func holds(t *testing.T, w *Watch, want bool) {
	t.Helper()
	synctest.Wait()
	if v, ok := w.Verdict(); !ok || v.Hold != want {
		t.Errorf("verdict %+v %v, want hold %v", v, ok, want)
	}
}

func TestWatchGivesUpAfterFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &prober{api: readyUntil(10 * time.Second), delay: time.Millisecond}
		w, remembered := run(t, p)
		time.Sleep(9500 * time.Millisecond)
		holds(t, w, true)
		if p.asked != 0 {
			t.Errorf("Ironic was asked %d times while the API was ready", p.asked)
		}
		time.Sleep(4 * time.Second) // 13.5 s: four failures
		holds(t, w, true)
		time.Sleep(time.Second)
		holds(t, w, false)
		if want := []Memory{{SeenReady: true, Holding: true}, {SeenReady: true}}; !slices.Equal(*remembered, want) {
			t.Errorf("remembered %+v, want %+v", *remembered, want)
		}
	})
}

func TestWatchBlackHole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The prober bounds each probe to 5 s; both endpoints hang.
		p := &prober{delay: 5 * time.Second}
		p.api = func(since time.Duration) health.API {
			if since < 6*time.Second {
				return health.Ready
			}
			return health.Gone
		}
		w, _ := run(t, p)
		time.Sleep(56 * time.Second) // 5 s ready, then five looks of 10 s
		holds(t, w, false)
	})
}

func TestWatchFirstVerdict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &prober{api: readyUntil(time.Hour), delay: 3 * time.Second}
		w, _ := run(t, p)
		time.Sleep(time.Second)
		synctest.Wait()
		if v, ok := w.Verdict(); ok {
			t.Errorf("verdict %+v before the first probe has ended", v)
		}
		time.Sleep(2500 * time.Millisecond)
		holds(t, w, true)
	})
}

// TestWatchRememberFails holds that a full disk costs no verdict, and that the state goes on where it was.
func TestWatchRememberFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &prober{api: readyUntil(time.Hour), start: time.Now()}
		w := &Watch{Prober: p, Wake: make(chan struct{}, 1), Remember: func(Memory) error { return errors.New("no space left") }}
		if err := w.Run(t.Context()); err == nil || err.Error() != "remember what the API was: no space left" {
			t.Errorf("error %v", err)
		}
		if v, ok := w.Verdict(); !ok || !v.Hold || w.Release.Memory() != (Memory{SeenReady: true, Holding: true}) {
			t.Errorf("verdict %+v %v, state %+v", v, ok, w.Release.Memory())
		}
	})
}
