package daemon

import (
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/container"
)

// slowEngine is a FAKE: an engine whose pulls last until the test ends them or they are cancelled.
type slowEngine struct {
	*fakeEngine
	arrive chan error
	ended  int
}

func (e *slowEngine) Pull(ctx context.Context, _, _ string) error {
	e.set(func() { _ = e.call("pull") })
	defer func() { e.ended++ }()
	select {
	case err := <-e.arrive:
		e.set(func() { e.absent = err != nil })
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestPull_RoundsGoOn pulls for hours while a container of another specification serves. That one
// is probed as usual, and a stop ends it and the pull at once.
func TestPull_RoundsGoOn(t *testing.T) {
	other := keepalived
	other.Image = "example.com/keepalived:0"
	pulling := UnderWay{Image: keepalived.Image}
	begin := func(t *testing.T) (*Keeper, *slowEngine, chan struct{}) {
		e := &slowEngine{arrive: make(chan error), fakeEngine: &fakeEngine{absent: true, found: true,
			state: container.State{Running: true, PID: 7, Digest: other.Digest()}, process: &fakeProcess{end: make(chan struct{})}}}
		k, wake := keeper(t, e.fakeEngine)
		k.Engine, k.Probe = e, UsesCPU()
		if err := rounds(t, k, 3600); !errors.Is(err, pulling) || !k.Running() || strings.Count(strings.Join(e.calls, " "), "pull") != 1 {
			t.Fatalf("%v, running %v, calls %v, want one pull and the former container", err, k.Running(), e.calls)
		}
		e.calls = nil
		for len(wake) > 0 { // of the probe
			<-wake
		}
		return k, e, wake
	}
	tests := []struct {
		name string
		then func(t *testing.T, k *Keeper, e *slowEngine, wake chan struct{})
	}{
		{"it arrives: the former one is replaced", func(t *testing.T, k *Keeper, e *slowEngine, wake chan struct{}) {
			e.arrive <- nil
			synctest.Wait()
			if len(wake) != 1 {
				t.Error("its end requests no round")
			}
			if err := k.Ensure(t.Context(), keepalived); err != nil || e.state.Digest != keepalived.Digest() || !k.Running() {
				t.Errorf("%v, calls %v", err, e.calls)
			}
		}},
		{"it fails: that is what is wrong, until another attempt has ended", func(t *testing.T, k *Keeper, e *slowEngine, _ chan struct{}) {
			refused := errors.New("connection refused")
			e.arrive <- refused
			for range 3 {
				if err := rounds(t, k, 1); !errors.Is(err, refused) || !k.Running() {
					t.Errorf("%v, running %v", err, k.Running())
				}
			}
			if !slices.Contains(e.calls, "pull") {
				t.Errorf("calls %v, want another attempt", e.calls)
			}
		}},
		{"the former one is stopped: it is continued", func(t *testing.T, k *Keeper, e *slowEngine, _ chan struct{}) {
			e.process.stopped = true
			if err := rounds(t, k, 10); !errors.Is(err, pulling) || !slices.Contains(e.process.signals, syscall.SIGCONT) {
				t.Errorf("%v, signals %v", err, e.process.signals)
			}
		}},
		{"the VIP is released: both end at once", func(t *testing.T, k *Keeper, e *slowEngine, _ chan struct{}) {
			begin := time.Now()
			if err := k.Stop(t.Context(), keepalived.Name); err != nil || time.Since(begin) != 0 || e.ended != 1 || len(e.calls) > 0 {
				t.Errorf("%v after %v, %d pulls ended, calls %v", err, time.Since(begin), e.ended, e.calls)
			}
			if _, _, _ = e.Inspect(t.Context(), ""); e.state.Running {
				t.Error("the former container runs on")
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k, e, wake := begin(t)
				tt.then(t, k, e, wake)
				if err := k.Stop(t.Context(), keepalived.Name); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestEngineIsAskedSoon holds that the long backoff is for a registry, not for an engine that does
// not answer whether an image is present.
func TestEngineIsAskedSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{fail: map[string]error{"image": errors.New("no socket")}}
		k, _ := keeper(t, e)
		if err := rounds(t, k, 600); err == nil {
			t.Fatal("started")
		}
		e.fail = nil
		if err := rounds(t, k, int(maxLocalDelay/time.Second)+1); err != nil || !k.Running() {
			t.Errorf("with the engine: %v", err)
		}
	})
}
