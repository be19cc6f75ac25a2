package vip

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/release"
)

// prober answers from a schedule: what the API is from each second on.
type prober struct {
	api    func(since time.Duration) health.API
	ironic func(since time.Duration) bool
	start  time.Time
	delay  time.Duration // how long each probe takes
	asked  atomic.Int32  // how often Ironic was
}

func (p *prober) API(ctx context.Context) health.API {
	p.pause(ctx)
	return p.api(time.Since(p.start))
}

func (p *prober) Ironic(ctx context.Context) bool {
	p.pause(ctx)
	p.asked.Add(1)
	return p.ironic != nil && p.ironic(time.Since(p.start))
}

func (p *prober) Heir(context.Context) release.Heir { return release.NoHeir }

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
func run(t *testing.T, p *prober) (w *Watch, remembered *[]release.Memory) {
	t.Helper()
	p.start = time.Now()
	remembered = new([]release.Memory)
	w = NewWatch(release.State{}, p, func(m release.Memory) error { *remembered = append(*remembered, m); return nil }, make(chan struct{}, 1))
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
	if v, err := w.Verdict(t.Context()); err != nil || v.Hold != want {
		t.Errorf("verdict %+v %v, want hold %v", v, err, want)
	}
}

func TestWatchGivesUpAfterFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &prober{api: readyUntil(10 * time.Second), delay: time.Millisecond}
		w, remembered := run(t, p)
		time.Sleep(9500 * time.Millisecond)
		holds(t, w, true)
		if p.asked.Load() != 0 {
			t.Errorf("Ironic was asked %d times while the API was ready", p.asked.Load())
		}
		time.Sleep(4 * time.Second) // 13.5 s: four failures
		holds(t, w, true)
		time.Sleep(time.Second)
		holds(t, w, false)
		if want := []release.Memory{{SeenReady: true, Holding: true}, {SeenReady: true}}; !slices.Equal(*remembered, want) {
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
		time.Sleep(30 * time.Second) // 5 s ready, then a look of 6 s and four of 5 s
		holds(t, w, true)
		time.Sleep(2 * time.Second)
		holds(t, w, false)
	})
}

// TestWatch_KeptFromReading has an answer arrive in time, and this machine read it long after the
// timeout: the API counts as ready.
func TestWatch_KeptFromReading(t *testing.T) {
	w := NewWatch(release.State{}, nil, nil, nil)
	api, ironic, heir := make(chan health.API, 1), make(chan bool, 1), make(chan release.Heir, 1)
	begin := time.Now().Add(-time.Minute)
	if o := w.awaitLate(begin, api, ironic, heir); o.API != health.Gone {
		t.Errorf("without an answer: %+v", o)
	}
	api <- health.Ready
	if o := w.awaitLate(begin, api, ironic, heir); o.API != health.Ready {
		t.Errorf("with one: %+v", o)
	}
}

// TestWatchFirstVerdict holds that nobody is told anything before the first probe has ended.
func TestWatchFirstVerdict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &prober{api: readyUntil(time.Hour), delay: 3 * time.Second}
		w, _ := run(t, p)
		soon, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if v, err := w.Verdict(soon); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("verdict %+v, %v before the first probe has ended", v, err)
		}
		if v, err := w.Verdict(t.Context()); err != nil || !v.Hold || time.Since(p.start) != 3*time.Second {
			t.Errorf("verdict %+v, %v after %v", v, err, time.Since(p.start))
		}
	})
}

// TestWatchRememberFails holds that a full disk costs no verdict, that the state goes on where it
// was, and that it is kept in the end.
func TestWatchRememberFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &prober{api: readyUntil(time.Hour), start: time.Now()}
		full, tries := errors.New("no space left"), 0
		w := NewWatch(release.State{}, p, func(release.Memory) error { tries++; return full }, make(chan struct{}, 1))
		for range 2 {
			if err := w.Run(t.Context()); err == nil || err.Error() != "remember what the API was: no space left" {
				t.Errorf("error %v", err)
			}
		}
		if v, err := w.Verdict(t.Context()); err != nil || !v.Hold {
			t.Errorf("verdict %+v %v", v, err)
		}
		full = nil
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := w.Run(ctx); err != nil || tries != 3 {
			t.Errorf("error %v, %d tries, want the third to be the last", err, tries)
		}
	})
}
