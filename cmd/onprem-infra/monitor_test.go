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

// heard is a log that many write to.
type heard struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(p)
}

// count is how often a word was said.
func (h *heard) count(word string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Count(h.text.String(), word)
}

// TestClusterChanges holds that a monitor ends in order, to be started anew, when the cluster has
// decided something else, and only then: a file that is wrong, gone or written anew with the same
// text ends nothing, and is said.
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
	said := &heard{}
	m := &monitor{machine: machine{cluster: path, log: slog.New(slog.NewTextHandler(said, nil)), wake: loop.NewWake(), meter: newMeter("test")}}
	if _, _, err := m.load(streams{err: said}); err != nil {
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
		for said.count(word) < n {
			select {
			case err := <-ended:
				t.Fatalf("%s: it ended: %v\n%s", what, err, said.text.String())
			case <-ctx.Done():
				t.Fatalf("%s: %q is not said %d times:\n%s", what, word, n, said.text.String())
			case <-time.After(5 * time.Millisecond):
			}
		}
	}
	put(text[:strings.Index(text, "  ingressVIPs:")])
	until("half a file", "stays in force", 1)
	put("kind: Nothing\n")
	until("another file's kind", "stays in force", 2)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	until("no file", "no such file", 1)
	put(text)
	put("kind: Nothing\n")
	until("wrong again", "stays in force", 4)
	put(text)
	put(text + "# another digest\n")
	if err := <-ended; err != nil || ctx.Err() != nil || left || said.count("begins anew") != 1 {
		t.Errorf("it ended with %v, %v, gave back what the next one needs: %t\n%s", err, ctx.Err(), left, said.text.String())
	}
	told, tell := context.WithCancel(ctx)
	tell()
	if err := runInPod(told, m, "", steps, time.Second, func(context.Context) {}); err != nil || !left {
		t.Errorf("told to end, it ended with %v, gave back what it held: %t", err, left)
	}
}
