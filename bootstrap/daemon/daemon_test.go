package daemon

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/container"
)

func TestEnsure(t *testing.T) {
	other := keepalived
	other.Image = "example.com/keepalived:0"
	tests := []struct {
		name   string
		engine fakeEngine
		full   bool // the disk, so that Prepare fails
		calls  []string
		err    string
	}{
		{name: "nothing there", calls: []string{"inspect", "image", "prepare", "start", "inspect"}},
		{name: "what the former container left stays", full: true, calls: []string{"inspect", "image", "prepare"}, err: "prepare container onprem-keepalived: read-only"},
		{name: "ours runs: adopted, not touched",
			engine: fakeEngine{found: true, state: container.State{Running: true, PID: 7, Digest: keepalived.Digest()}, process: &fakeProcess{end: make(chan struct{})}},
			calls:  []string{"inspect"}},
		{name: "ours is paused: it goes on and is adopted",
			engine: fakeEngine{found: true, state: container.State{Running: true, Paused: true, PID: 7, Digest: keepalived.Digest()}, process: &fakeProcess{end: make(chan struct{})}},
			calls:  []string{"inspect", "unpause"}},
		{name: "ours is paused and stays so",
			engine: fakeEngine{found: true, state: container.State{Running: true, Paused: true, PID: 7, Digest: keepalived.Digest()}, fail: map[string]error{"unpause": errors.New("frozen")}},
			calls:  []string{"inspect", "unpause"}, err: "frozen"},
		{name: "ours has ended: replaced",
			engine: fakeEngine{found: true, state: container.State{Digest: keepalived.Digest()}},
			calls:  []string{"inspect", "image", "remove", "prepare", "start", "inspect"}},
		{name: "ours was made and never started: it is started",
			engine: fakeEngine{found: true, state: container.State{New: true, Digest: keepalived.Digest()}},
			calls:  []string{"inspect", "image", "prepare", "again", "inspect"}},
		{name: "ours needs long to start: it is not taken away",
			engine: fakeEngine{found: true, state: container.State{New: true, Digest: keepalived.Digest()}, fail: map[string]error{"again": context.DeadlineExceeded}},
			calls:  []string{"inspect", "image", "prepare", "again"}, err: "context deadline exceeded"},
		{name: "ours was never started and cannot be: replaced",
			engine: fakeEngine{found: true, state: container.State{New: true, Digest: keepalived.Digest()}, fail: map[string]error{"again": errors.New("layer not known")}},
			calls:  []string{"inspect", "image", "prepare", "again", "remove", "prepare", "start", "inspect"}},
		{name: "another specification's has ended: replaced",
			engine: fakeEngine{found: true, state: container.State{Digest: other.Digest()}},
			calls:  []string{"inspect", "image", "remove", "prepare", "start", "inspect"}},
		{name: "its PID is another process's: that is not touched",
			engine: fakeEngine{found: true, state: container.State{Running: true, PID: 7, Digest: keepalived.Digest()}, process: &fakeProcess{foreign: true, end: make(chan struct{})}},
			calls:  []string{"inspect", "image", "remove", "prepare", "start", "inspect"}},
		{name: "ours has ended, and the engine does not know: replaced",
			engine: fakeEngine{found: true, state: container.State{Running: true, PID: 7, Digest: keepalived.Digest()}},
			calls:  []string{"inspect", "image", "remove", "prepare", "start", "inspect"}},
		{name: "another specification runs: replaced after the image is there",
			engine: fakeEngine{found: true, state: container.State{Running: true, PID: 7, Digest: other.Digest()}, process: &fakeProcess{end: make(chan struct{})}},
			calls:  []string{"inspect", "image", "stop", "remove", "prepare", "start", "inspect"}},
		{name: "foreign container: refused, not deleted",
			engine: fakeEngine{found: true, state: container.State{Running: true, PID: 7}},
			calls:  []string{"inspect"}, err: "the name onprem-keepalived is taken by a container that is not ours"},
		{name: "the engine does not know whether the image is there: the former container stays",
			engine: fakeEngine{found: true, state: container.State{Running: true, PID: 7, Digest: other.Digest()}, fail: map[string]error{"image": errors.New("database is locked")}},
			calls:  []string{"inspect", "image"}, err: "database is locked"},
		{name: "the engine is away", engine: fakeEngine{fail: map[string]error{"inspect": errors.New("no socket")}},
			calls: []string{"inspect"}, err: "inspect container onprem-keepalived: no socket"},
		{name: "storage is full", engine: fakeEngine{fail: map[string]error{"start": errors.New("no space left")}},
			calls: []string{"inspect", "image", "prepare", "start"}, err: "start container onprem-keepalived: no space left"},
	}
	for i := range tests {
		tt := &tests[i]
		t.Run(tt.name, func(t *testing.T) {
			k, _ := keeper(t, &tt.engine)
			k.Prepare = func() error {
				if tt.full {
					tt.engine.fail = map[string]error{"prepare": errors.New("read-only")}
				}
				return tt.engine.call("prepare")
			}
			err := k.Ensure(t.Context(), keepalived)
			if tt.err == "" && (err != nil || !k.Running()) || tt.err != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.err)) {
				t.Errorf("error %v, running %v, want error %q", err, k.Running(), tt.err)
			}
			if !slices.Equal(tt.engine.calls, tt.calls) {
				t.Errorf("calls %v, want %v", tt.engine.calls, tt.calls)
			}
		})
	}
}

func TestEnsureCostsNothingWhileItRuns(t *testing.T) {
	e := &fakeEngine{}
	k, _ := keeper(t, e)
	for range 100 {
		if err := k.Ensure(t.Context(), keepalived); err != nil {
			t.Fatal(err)
		}
	}
	if len(e.calls) != 4 { // inspect, image, start, inspect
		t.Errorf("%d calls to the engine, want those of the start: %v", len(e.calls), e.calls)
	}
}

func TestEnsureBacksOffWithoutLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{absent: true, fail: map[string]error{"pull": errors.New("connection refused")}}
		k, _ := keeper(t, e)
		var tries []time.Duration
		begin := time.Now()
		for range 3 * 3600 { // three hours, one round a second
			before := len(e.calls)
			if err := k.Ensure(t.Context(), keepalived); err == nil {
				t.Fatal("started without an image")
			}
			synctest.Wait()
			if slices.Contains(e.calls[before:], "pull") {
				tries = append(tries, time.Since(begin))
			}
			_ = k.Ensure(t.Context(), keepalived) // the end of a pull asks for a round
			time.Sleep(time.Second)
		}
		if want := []time.Duration{0, 1, 3, 7, 15, 31, 61}; !slices.EqualFunc(tries[:len(want)], want, func(a, b time.Duration) bool { return a == b*time.Second }) {
			t.Errorf("attempts at %v, want %v s", tries[:len(want)], want)
		}
		if n := len(tries); n < 360 || n > 370 {
			t.Errorf("%d attempts in three hours, want one every 30 s", n)
		}
		e.fail = nil
		time.Sleep(maxDelay)
		_ = k.Ensure(t.Context(), keepalived)
		if err := rounds(t, k, 1); err != nil || !k.Running() {
			t.Errorf("after the registry came back: %v", err)
		}
	})
}

func TestEndOfContainerWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{}
		k, wake := keeper(t, e)
		if err := k.Ensure(t.Context(), keepalived); err != nil {
			t.Fatal(err)
		}
		time.Sleep(firstDelay)
		close(e.process.end)
		synctest.Wait()
		if len(wake) != 1 || k.Running() {
			t.Errorf("%d wake-ups, running %v, want one and false", len(wake), k.Running())
		}
		if err := k.Ensure(t.Context(), keepalived); err != nil || !k.Running() {
			t.Errorf("restart: %v", err)
		}
	})
}

func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{}
		k, _ := keeper(t, e)
		if err := k.Ensure(t.Context(), keepalived); err != nil {
			t.Fatal(err)
		}
		e.calls = nil
		begin := time.Now()
		for range 3 {
			if err := k.Stop(t.Context(), keepalived.Name); err != nil {
				t.Fatal(err)
			}
		}
		// SIGCONT comes after it unless the process was seen to end before.
		if took := time.Since(begin); took != 0 || len(e.calls) != 0 || len(e.process.signals) == 0 || e.process.signals[0] != syscall.SIGTERM ||
			slices.Contains(e.process.signals[1:], syscall.SIGTERM) {
			t.Errorf("took %v, engine calls %v, signals %v, want one SIGTERM and nothing else", took, e.calls, e.process.signals)
		}
		if err := k.Ensure(t.Context(), keepalived); err != nil || !k.Running() {
			t.Errorf("start after stop: %v", err)
		}
	})
}

// TestStop_NoHandlerYet stops a container right after its start, when its first process has no
// signal handler yet.
func TestStop_NoHandlerYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{}
		k, _ := keeper(t, e)
		if err := k.Ensure(t.Context(), keepalived); err != nil {
			t.Fatal(err)
		}
		e.process.dropsTERM, e.calls = 2, nil
		begin := time.Now()
		if err := k.Stop(t.Context(), keepalived.Name); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took != 2*termInterval || len(e.calls) != 0 || e.process.dropsTERM != 0 {
			t.Errorf("took %v, engine calls %v, want SIGTERM repeated until it is received", took, e.calls)
		}
	})
}

func TestStop_IgnoresSIGTERM(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{}
		k, _ := keeper(t, e)
		if err := k.Ensure(t.Context(), keepalived); err != nil {
			t.Fatal(err)
		}
		e.process.ignoresTERM, e.calls = true, nil
		if err := k.Stop(t.Context(), keepalived.Name); err != nil {
			t.Fatal(err)
		}
		if want := []string{"inspect", "inspect", "stop"}; !slices.Equal(e.calls, want) {
			t.Errorf("calls %v, want %v", e.calls, want)
		}
	})
}

func TestStopWithoutHavingStarted(t *testing.T) {
	tests := []struct {
		name  string
		state container.State
		found bool
		calls []string
	}{
		{name: "nothing there", calls: []string{"inspect"}},
		{name: "left by a crash", found: true, state: container.State{Running: true, PID: 7, Digest: keepalived.Digest()}, calls: []string{"inspect", "stop"}},
		{name: "left by a crash and paused", found: true, state: container.State{Running: true, Paused: true, PID: 7, Digest: keepalived.Digest()}, calls: []string{"inspect", "stop"}},
		{name: "foreign", found: true, state: container.State{Running: true, PID: 7}, calls: []string{"inspect"}},
		{name: "made and perhaps not started", found: true, state: container.State{New: true, Digest: keepalived.Digest()}, calls: []string{"inspect", "remove"}},
		{name: "foreign and not started", found: true, state: container.State{New: true}, calls: []string{"inspect"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := &fakeEngine{found: tt.found, state: tt.state}
			k, _ := keeper(t, e)
			if err := k.Stop(t.Context(), keepalived.Name); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(e.calls, tt.calls) {
				t.Errorf("calls %v, want %v", e.calls, tt.calls)
			}
		})
	}
}

// TestStopAfterAStartThatFailedHalfway stops once and then starts a container that cannot be
// watched: it may run, so the next stop must inspect it.
func TestStopAfterAStartThatFailedHalfway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{}
		k, _ := keeper(t, e)
		if err := errors.Join(k.Ensure(t.Context(), keepalived), k.Stop(t.Context(), keepalived.Name)); err != nil {
			t.Fatal(err)
		}
		open := k.Open
		k.Open = func(int) (Process, error) { return nil, errors.New("too many open files") }
		if err := k.Ensure(t.Context(), keepalived); err == nil || !e.state.Running {
			t.Fatalf("error %v, running %v, want it started and not watched", err, e.state.Running)
		}
		k.Open, e.calls = open, nil
		if err := k.Stop(t.Context(), keepalived.Name); err != nil || !slices.Equal(e.calls, []string{"inspect", "stop"}) {
			t.Errorf("stop: %v, calls %v, want the engine to stop it", err, e.calls)
		}
		if _, _, _ = e.Inspect(t.Context(), ""); e.state.Running {
			t.Error("it runs on")
		}
	})
}

// TestStopWithoutAnEngine holds that Stop fails if the engine does not answer: a container may run.
func TestStopWithoutAnEngine(t *testing.T) {
	e := &fakeEngine{fail: map[string]error{"inspect": errors.New("no socket")}}
	k, _ := keeper(t, e)
	if err := k.Stop(t.Context(), keepalived.Name); err == nil || !strings.Contains(err.Error(), "container onprem-keepalived may still run, and keep what it holds: inspect it: no socket") {
		t.Errorf("Stop() = %v, want the report that the container may run", err)
	}
}

// TestStopFindsWithoutAnEngine holds that the container of an earlier run is found by its command
// and ended while the engine does not answer.
func TestStopFindsWithoutAnEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &fakeEngine{fail: map[string]error{"inspect": errors.New("no socket")}}
		k, _ := keeper(t, e)
		left := &fakeProcess{end: make(chan struct{})}
		k.Find = func(command []string) (Process, error) {
			if !slices.Equal(command, keepalived.Command) {
				return nil, os.ErrProcessDone
			}
			return left, nil
		}
		if err := k.Ensure(t.Context(), keepalived); err == nil {
			t.Fatal("started without an engine")
		}
		if err := k.Stop(t.Context(), keepalived.Name); err != nil || !slices.Contains(left.signals, syscall.SIGTERM) {
			t.Errorf("Stop() = %v, signals %v, want its process found and ended", err, left.signals)
		}
	})
}
