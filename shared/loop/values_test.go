package loop

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestEvery holds that work is done at once and at each tick, until the context ends or the work
// does.
func TestEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		var at []time.Duration
		start := time.Now()
		for range Every(ctx, time.Second) {
			at = append(at, time.Since(start))
		}
		if want := []time.Duration{0, time.Second, 2 * time.Second}; !slices.Equal(at, want) {
			t.Errorf("done at %v, want %v", at, want)
		}
		if took := time.Since(start); took != 2500*time.Millisecond {
			t.Errorf("it ends after %v", took)
		}
		for range Every(t.Context(), time.Second) {
			break
		}
		if took := time.Since(start); took != 2500*time.Millisecond {
			t.Errorf("it does not end with the work: %v", took)
		}
	})
}

// TestLatest holds that the first value is waited for, and that only a change asks for a round.
func TestLatest(t *testing.T) {
	wake := NewWake()
	l := NewLatest[map[string]int](wake)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := l.Get(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("before the first: %v, %v", got, err)
	}
	for _, tt := range []struct {
		value int
		wakes int
	}{{1, 0}, {1, 0}, {2, 1}} {
		l.Set(map[string]int{"a": tt.value})
		if got, err := l.Get(t.Context()); err != nil || got["a"] != tt.value || len(wake) != tt.wakes {
			t.Errorf("%v, %v, %d rounds; want %+v", got, err, len(wake), tt)
		}
	}
}

// TestKept holds that a value is written when it differs from what was written, and again after a
// failure.
func TestKept(t *testing.T) {
	k := NewKept("keep it", 1, func(a, b int) bool { return a == b })
	full := errors.New("no space left")
	for _, tt := range []struct {
		value  int
		fails  error
		writes int
	}{{1, nil, 0}, {2, full, 1}, {2, nil, 1}, {2, nil, 0}, {1, nil, 1}} {
		writes := 0
		err := k.Keep(tt.value, func(int) error { writes++; return tt.fails })
		if writes != tt.writes || !errors.Is(err, tt.fails) {
			t.Errorf("%d: %d writes, %v; want %d, %v", tt.value, writes, err, tt.writes, tt.fails)
		}
	}
}

// manager is a FAKE service manager; while it is away it takes nothing.
type manager struct {
	texts []string
	away  error
}

func (m *manager) Ready() error { return m.Status("READY") }

func (m *manager) Status(text string) error {
	if m.away == nil {
		m.texts = append(m.texts, text)
	}
	return m.away
}

// TestReporter holds that a status is reported when it changes, and READY once; and that what could
// not be reported is, as soon as that succeeds.
func TestReporter(t *testing.T) {
	var m manager
	r := Reporter{Notifier: &m}
	for _, tt := range []struct {
		ready  bool
		status string
	}{{false, "starts"}, {false, "starts"}, {true, "runs"}, {true, "runs"}, {false, "waits"}, {true, "waits"}} {
		if err := r.Report(tt.ready, tt.status); err != nil {
			t.Fatal(err)
		}
	}
	m.away = errors.New("no socket")
	if err := r.Report(true, "ends"); !errors.Is(err, m.away) {
		t.Errorf("to a manager that is away: %v", err)
	}
	m.away = nil
	if err := r.Report(true, "ends"); err != nil {
		t.Error(err)
	}
	if want := []string{"starts", "runs", "READY", "waits", "ends"}; !slices.Equal(m.texts, want) {
		t.Errorf("reported %q, want %q", m.texts, want)
	}
	later := manager{away: errors.New("no socket")}
	r = Reporter{Notifier: &later}
	if err := r.Report(true, ""); !errors.Is(err, later.away) {
		t.Errorf("READY to a manager that is away: %v", err)
	}
	later.away = nil
	if err := r.Report(true, ""); err != nil || !slices.Equal(later.texts, []string{"READY"}) {
		t.Errorf("READY that failed is not repeated: %q, %v", later.texts, err)
	}
}
