//go:build remote

package main

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// sharedLog is a log that many write to.
type sharedLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (h *sharedLog) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(p)
}

// count is how often a word was said.
func (h *sharedLog) count(word string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Count(h.text.String(), word)
}

// TestClusterChanges holds that a monitor ends in order, to be restarted, only when the cluster
// description changes: a file that is wrong or gone ends nothing and is logged, and neither does one
// with the same text.
func TestClusterChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cluster.json")
	text := must(t, "", "example", "cluster")
	put := func(text string) {
		t.Helper()
		if err := file.Write(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put(text)
	logged := &sharedLog{}
	m := &monitor{machine: &machine{cluster: path, log: slog.New(slog.NewTextHandler(logged, nil)), wake: loop.NewWake(), meter: newMeter("test")}}
	if _, _, err := m.load(streams{err: logged}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	left := false
	steps := loop.Steps[int, int]{
		Observe: func(context.Context) (int, error) { return 0, nil }, Decide: func(int) (int, loop.Reasons) { return 0, nil },
		Apply: func(context.Context, int) error { return nil }, Leave: func(context.Context) error { left = true; return nil },
	}
	ended := make(chan error, 1)
	go func() { ended <- runInPod(ctx, m, "", steps, time.Second, func(context.Context) {}) }()
	until := func(what, word string, n int) {
		t.Helper()
		for logged.count(word) < n {
			select {
			case err := <-ended:
				t.Fatalf("%s: it ended: %v\n%s", what, err, logged.text.String())
			case <-ctx.Done():
				t.Fatalf("%s: %q is not logged %d times:\n%s", what, word, n, logged.text.String())
			case <-time.After(5 * time.Millisecond):
			}
		}
	}
	put(text[:strings.Index(text, "  ingressVIPs:")])
	until("half a file", "the running one stays", 1)
	put("kind: Nothing\n")
	until("another file's kind", "the running one stays", 2)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	until("no file", "no such file", 1)
	put(text)
	put("kind: Nothing\n")
	until("wrong again", "the running one stays", 4)
	put(text)
	put(text + "# another digest\n")
	if err := <-ended; err != nil || ctx.Err() != nil || left || logged.count("restarts with it") != 1 {
		t.Errorf("it ended with %v, %v, released what the next one needs: %t\n%s", err, ctx.Err(), left, logged.text.String())
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	if err := runInPod(stopped, m, "", steps, time.Second, func(context.Context) {}); err != nil || !left {
		t.Errorf("stopped, it ended with %v, released what it held: %t", err, left)
	}
}
