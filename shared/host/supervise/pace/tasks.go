package pace

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

// restartPause is the time after which a feed of the loop that failed is started again. Meanwhile
// the loop reads once a beat.
const restartPause = 5 * time.Second

// Tasks are the goroutines that serve the loop, and the tasks that fail at present, by name. No
// failed task ends the supervisor: keepalived would end with it, and the host release its VIPs.
type Tasks struct {
	ctx     context.Context // ends when the loop has ended
	running sync.WaitGroup
	log     *slog.Logger
	mu      sync.Mutex
	failing map[string]string
}

// NewTasks has no task yet. All goroutines end when ctx does.
func NewTasks(ctx context.Context, log *slog.Logger) *Tasks {
	return &Tasks{ctx: ctx, log: log, failing: map[string]string{}}
}

// Go runs a goroutine that ends when its context does.
func (t *Tasks) Go(serve func(context.Context)) { t.running.Go(func() { serve(t.ctx) }) }

// Wait waits for the end of all goroutines.
func (t *Tasks) Wait() { t.running.Wait() }

// Note logs that a task begins to fail, fails for another reason, or succeeds again. It is for
// tasks that are repeated until they succeed: one that is never repeated would stay on the list.
func (t *Tasks) Note(task string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	was, failed := t.failing[task]
	switch {
	case err == nil && failed:
		delete(t.failing, task)
		t.log.Info("succeeded again", "task", task)
	case err != nil && was != err.Error():
		t.failing[task] = err.Error()
		t.log.Error("failed, and will be tried again", "task", task, "error", err)
	}
}

func (t *Tasks) forget(task string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.failing, task)
}

// Failing has an entry for each task that fails, sorted.
func (t *Tasks) Failing() (all []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, task := range slices.Sorted(maps.Keys(t.failing)) {
		all = append(all, fmt.Sprintf("%s: %s", task, t.failing[task]))
	}
	return all
}

// Keep runs a feed of the loop until it is stopped or all goroutines end, and starts it again when
// it fails.
func (t *Tasks) Keep(task string, feed func(context.Context) error) (stop context.CancelFunc) {
	ctx, stop := context.WithCancel(t.ctx)
	t.running.Go(func() {
		defer stop()
		defer t.forget(task)
		for ctx.Err() == nil {
			runs := time.AfterFunc(restartPause, func() { t.Note(task, nil) })
			err := feed(ctx)
			runs.Stop()
			if ctx.Err() != nil {
				return
			}
			t.Note(task, err)
			select {
			case <-ctx.Done():
			case <-time.After(restartPause):
			}
		}
	})
	return stop
}
