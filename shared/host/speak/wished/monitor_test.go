package wished

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// TestMiss holds that a monitor which has died counts as dead until there is another heartbeat, also of one that
// locks nothing, and that one which has ended in order does not count as dead.
func TestMiss(t *testing.T) {
	begun := time.Now()
	type look struct {
		dead bool
		beat int
		want bool
	}
	for name, looks := range map[string][]look{
		"it ends in order":              {{false, 1, false}, {false, 1, false}},
		"it dies, and is back":          {{false, 1, false}, {true, 2, true}, {true, 2, true}, {false, 3, false}, {false, 4, false}},
		"it had died before the start":  {{true, 1, true}, {true, 1, true}},
		"another one locks nothing":     {{false, 1, false}, {true, 1, true}, {true, 2, false}, {true, 2, false}},
		"another one dies":              {{true, 1, true}, {false, 2, false}, {true, 2, true}},
		"another one has no heartbeat":  {{true, 1, true}, {false, 1, false}},
		"none has ever wanted anything": {{false, 0, false}},
		"one died before it could":      {{true, 0, true}, {true, 1, false}},
	} {
		w := &Wish{}
		for i, l := range looks {
			if l.beat > 0 {
				w.Receive(spoken.Wish{Beat: begun.Add(time.Duration(l.beat) * time.Second)}, begun)
			}
			if w.Miss(l.dead); w.Died() != l.want || w.Speak(false).Died != l.want {
				t.Errorf("%s, look %d: %t", name, i, w.Died())
			}
		}
	}
}

// TestFollow holds that the end of a monitor without order wakes within some milliseconds, and its return, and that
// one which ends in order wakes nobody.
func TestFollow(t *testing.T) {
	dir := t.TempDir()
	path := dir + "/" + spoken.MonitorFile
	ctx, cancel := context.WithCancel(t.Context())
	wake, done := loop.NewWake(), make(chan struct{})
	go func() { Follow(ctx, dir, wake); close(done) }()
	wakes := func(what string, want bool) {
		t.Helper()
		patience := 400 * time.Millisecond
		if want {
			patience = 10 * time.Second
		}
		select {
		case <-wake:
			if !want {
				t.Errorf("%s: it wakes", what)
			}
		case <-time.After(patience):
			if want {
				t.Errorf("%s: it does not wake", what)
			}
		}
	}
	var monitor file.Held
	hold := func() {
		t.Helper()
		if ok, err := monitor.Hold(path); !ok || err != nil {
			t.Fatal(err)
		}
	}
	hold()
	wakes("a monitor starts", false)
	if err := monitor.Release(path); err != nil {
		t.Fatal(err)
	}
	wakes("it ends in order", false)
	if err := file.Write(path, nil, 0o644); err != nil { // as one has left it that was killed
		t.Fatal(err)
	}
	wakes("one was killed", true)
	hold()
	wakes("another one works", true)
	cancel()
	<-done
}

// TestMonitor holds what is reported of a monitor, and that each change of it is logged once.
func TestMonitor(t *testing.T) {
	var out strings.Builder
	log := slog.New(slog.NewTextHandler(&out, nil))
	w := &Wish{}
	for i, tt := range []struct {
		dead, silent bool
		want         spoken.Monitor
	}{{false, false, spoken.Works}, {true, false, spoken.Died}, {true, false, spoken.Died}, {true, true, spoken.Silent}, {false, true, spoken.Silent}, {false, false, spoken.Works}} {
		w.Miss(tt.dead)
		if got := w.Monitor(tt.silent, log); got != tt.want {
			t.Errorf("%d: %q", i, got)
		}
	}
	if text := out.String(); strings.Count(text, "\n") != 3 || strings.Count(text, "level=WARN") != 2 || !strings.Contains(text, "before=silent") {
		t.Error(text)
	}
}
