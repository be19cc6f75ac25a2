package supervise

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

// again is the time after which a feed of the loop that failed is begun again. Meanwhile the loop
// looks once a beat.
const again = 5 * time.Second

// troubles are what the supervisor cannot do at present, by the name of the task. None of them ends
// it: its end would have keepalived end, and the host give its VIPs up.
type troubles struct {
	mu  sync.Mutex
	now map[string]string
}

// note logs that a task begins to fail, fails for another reason, or succeeds again.
func (t *troubles) note(log *slog.Logger, task string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	was, failed := t.now[task]
	switch {
	case err == nil && failed:
		delete(t.now, task)
		log.Info("succeeded again", "task", task)
	case err != nil && was != err.Error():
		if t.now == nil {
			t.now = map[string]string{}
		}
		t.now[task] = err.Error()
		log.Error("failed, and will be tried again", "task", task, "error", err)
	}
}

// forget is for a task that is not wanted any more.
func (t *troubles) forget(task string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.now, task)
}

// list has an entry for each task, sorted.
func (t *troubles) list() (all []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, task := range slices.Sorted(maps.Keys(t.now)) {
		all = append(all, fmt.Sprintf("%s: %s", task, t.now[task]))
	}
	return all
}

// note is for what is judged or tried again until it succeeds, by whichever event: what fails once
// and is never looked at again would stay on the list.
func (s *supervisor) note(task string, err error) { s.troubles.note(s.Log, task, err) }

// keep runs a feed of the loop until ctx ends, and begins it again when it fails.
func (s *supervisor) keep(ctx context.Context, task string, feed func(context.Context) error) {
	s.servants.Go(func() {
		defer s.troubles.forget(task)
		for ctx.Err() == nil {
			runs := time.AfterFunc(again, func() { s.note(task, nil) })
			err := feed(ctx)
			runs.Stop()
			if ctx.Err() != nil {
				return
			}
			s.note(task, err)
			select {
			case <-ctx.Done():
			case <-time.After(again):
			}
		}
	})
}
