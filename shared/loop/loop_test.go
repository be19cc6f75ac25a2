package loop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const every = 10 * time.Second

// room records the steps that the loop ran, and when.
type room struct {
	start   time.Time
	rounds  []time.Duration // of each Observe, since the start
	applied []int
	left    int

	observe func(round int) error
	apply   func(ctx context.Context, round int) error
	why     func(round int) Reasons
	leave   func(context.Context) error
}

func (r *room) steps() Steps[int, int] {
	return Steps[int, int]{
		Observe: func(context.Context) (int, error) {
			r.rounds = append(r.rounds, time.Since(r.start))
			if r.observe != nil {
				return 0, r.observe(len(r.rounds))
			}
			return len(r.rounds), nil
		},
		Decide: func(seen int) (int, Reasons) {
			if r.why != nil {
				return seen, r.why(seen)
			}
			return seen, nil
		},
		Apply: func(ctx context.Context, want int) error {
			r.applied = append(r.applied, want)
			if r.apply != nil {
				return r.apply(ctx, len(r.rounds))
			}
			return nil
		},
		Leave: func(ctx context.Context) error {
			r.left++
			if r.leave != nil {
				return r.leave(ctx)
			}
			return nil
		},
	}
}

// run runs the loop in virtual time until drive returns, and returns its log without the times.
func run(t *testing.T, r *room, drive func(wake chan<- struct{})) (log string, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r.start = time.Now()
		var out bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(
			_ []string, a slog.Attr,
		) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
		ctx, cancel := context.WithCancel(t.Context())
		wake, done := NewWake(), make(chan error)
		go func() { done <- Run(ctx, r.steps(), wake, every, logger) }()
		synctest.Wait()
		drive(wake)
		synctest.Wait()
		cancel()
		err, log = <-done, out.String()
	})
	return log, err
}

func TestRun_RoundsAtOnceThenByClockAndWakeUps(t *testing.T) {
	r := &room{}
	r.apply = func(_ context.Context, round int) error {
		if round == 4 {
			time.Sleep(2 * time.Second)
		}
		return nil
	}
	_, err := run(t, r, func(wake chan<- struct{}) {
		time.Sleep(25 * time.Second)
		Wake(wake)
		time.Sleep(time.Second) // the round that it brought is still at work
		for range 100 {
			Wake(wake)
		}
		time.Sleep(every)
	})
	s := time.Second
	if want := []time.Duration{0, 10 * s, 20 * s, 25 * s, 27 * s, 30 * s}; err != nil ||
		!slices.Equal(r.rounds, want) {
		t.Errorf(
			"rounds at %v (%v), want %v: a hundred wake-ups are one, and none is lost", r.rounds,
			err, want,
		)
	}
	if want := []int{1, 2, 3, 4, 5, 6}; !slices.Equal(r.applied, want) {
		t.Errorf("applied %v, want every round: %v", r.applied, want)
	}
}

func TestFailedObserveChangesNothing(t *testing.T) {
	r := &room{observe: func(round int) error { return errors.New("no netlink") }}
	run(t, r, func(chan<- struct{}) { time.Sleep(time.Minute) })
	if len(r.applied) != 0 {
		t.Errorf("applied %v after a failed Observe, want nothing", r.applied)
	}
	if len(r.rounds) < 6 {
		t.Errorf("%d rounds in a minute of errors, want one each %v", len(r.rounds), every)
	}
}

// TestPublish holds that a room publishes in every round, before it applies, with what it decided;
// that after a failed Observe it publishes the zero value; and that a failed Publish keeps it from
// applying.
func TestPublish(t *testing.T) {
	for _, tt := range []struct {
		name               string
		observe, publish   error
		published, applied int
	}{
		{"all steps pass", nil, nil, 1, 1},
		{"observe fails", errors.New("no netlink"), nil, 0, 0},
		{"publish fails", nil, errors.New("no space"), 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &room{observe: func(int) error { return tt.observe }}
			steps := r.steps()
			observe := steps.Observe
			steps.Observe = func(ctx context.Context) (int, error) {
				_, err := observe(ctx)
				return 1, err
			}
			published := -1
			steps.Publish = func(_ context.Context, want int) error {
				if len(r.applied) > 0 {
					t.Error("published after it applied")
				}
				published = want
				return tt.publish
			}
			round(t.Context(), steps, new(journal), slog.New(slog.DiscardHandler))
			if published != tt.published || len(r.applied) != tt.applied {
				t.Errorf("published %d, applied %d times, want %d, %d", published, len(r.applied), tt.published, tt.applied)
			}
		})
	}
}

func TestErrorsAreLoggedWhenTheyChange(t *testing.T) {
	faults := []string{"", "a", "a", "b", "b", "", "", "b"}
	for _, tt := range []struct {
		step string
		room *room
	}{
		{"observe", &room{observe: func(round int) error { return fault(faults, round) }}},
		{"apply", &room{apply: func(_ context.Context, round int) error {
			return fault(faults, round)
		}}},
	} {
		t.Run(tt.step, func(t *testing.T) {
			log, _ := run(t, tt.room, func(chan<- struct{}) {
				time.Sleep(time.Duration(len(faults)-1) * every)
			})
			want := fmt.Sprintf("level=WARN msg=%[1]s error=a\nlevel=WARN msg=%[1]s error=b\nlevel=INFO msg=recovered step=%[1]s after=40s\nlevel=WARN msg=%[1]s error=b\n", tt.step)
			if log != want {
				t.Errorf("log:\n%swant:\n%s", log, want)
			}
		})
	}
}

func fault(texts []string, round int) error {
	if text := texts[min(round, len(texts))-1]; text != "" {
		return errors.New(text)
	}
	return nil
}

// TestErrorsOfLongTrialsAreOneNews has trials that block for longer than the time after which a
// fault is news again.
func TestErrorsOfLongTrialsAreOneNews(t *testing.T) {
	for _, tt := range []struct {
		name   string
		takes  time.Duration
		faults []string // in turn, for ever
		want   int      // lines
	}{
		{"one way", 5 * time.Minute, []string{"timeout"}, 1},
		{"two ways", 5 * time.Minute, []string{"timeout", "cut off"}, 2},
		{"short trials, two ways", 0, []string{"refused", "no such host"}, 2},
		{
			"one that comes once in an hour", time.Minute,
			append(slices.Repeat([]string{"timeout"}, 59), "cut off"), 1 + 6,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &room{apply: func(_ context.Context, round int) error {
				time.Sleep(tt.takes)
				return errors.New(tt.faults[(round-1)%len(tt.faults)])
			}}
			log, _ := run(t, r, func(chan<- struct{}) { time.Sleep(6*time.Hour + 5*time.Minute) })
			if got := strings.Count(log, "level=WARN"); got != tt.want {
				t.Errorf("%d lines in 6 h, want %d:\n%s", got, tt.want, log)
			}
		})
	}
}

func TestReasonsAreLoggedWhenTheyChange(t *testing.T) {
	why := []Reasons{
		nil, {"peer 192.0.2.7"}, {"peer 192.0.2.7"}, {"peer 192.0.2.7", "peer 192.0.2.8"}, nil,
	}
	r := &room{why: func(round int) Reasons { return slices.Clone(why[min(round, len(why))-1]) }}
	log, _ := run(t, r, func(chan<- struct{}) { time.Sleep(time.Duration(len(why)-1) * every) })
	want := `level=INFO msg=decide why="peer 192.0.2.7"
level=INFO msg=decide why="peer 192.0.2.7; peer 192.0.2.8"
level=INFO msg=decide why=""
`
	if log != want {
		t.Errorf("log:\n%swant:\n%s", log, want)
	}
}

func TestEnd_AtOnceWhileApplyRuns(t *testing.T) {
	var began time.Time
	r := &room{apply: func(ctx context.Context, _ int) error {
		began = time.Now()
		<-ctx.Done() // a step that would take for ever
		return ctx.Err()
	}}
	log, err := run(t, r, func(chan<- struct{}) { time.Sleep(3 * time.Second) })
	if err != nil || r.left != 1 {
		t.Errorf("left %d times with %v, want once and no error", r.left, err)
	}
	if ended := r.start.Add(3 * time.Second); began.After(ended) || len(r.applied) != 1 {
		t.Errorf(
			"applied %v, last at %v, want nothing after the end at %v", r.applied, began, ended,
		)
	}
	if log != "" {
		t.Errorf("log: %swant nothing: being told to end is no fault", log)
	}
}

func TestEnd_AtOnceBetweenRounds(t *testing.T) {
	var at time.Duration
	r := &room{}
	r.leave = func(context.Context) error { at = time.Since(r.start); return nil }
	run(t, r, func(chan<- struct{}) { time.Sleep(3 * time.Second) })
	if at != 3*time.Second || len(r.rounds) != 1 {
		t.Errorf("left after %v and %d rounds, want 3s and one", at, len(r.rounds))
	}
}

func TestNothingIsAppliedAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r := &room{}
		steps := r.steps()
		steps.Decide = func(int) (int, Reasons) { cancel(); return 0, nil }
		if err := Run(ctx, steps, nil, every, slog.New(slog.DiscardHandler)); err != nil ||
			len(r.applied) != 0 || r.left != 1 {
			t.Errorf(
				"applied %v, left %d times, %v; want nothing applied and one Leave", r.applied,
				r.left, err,
			)
		}
	})
}

func TestLeaveHasAFreshBoundedContext(t *testing.T) {
	type key struct{}
	r := &room{leave: func(ctx context.Context) error {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("began with %w", err)
		}
		<-ctx.Done() // a service that does not answer
		return ctx.Err()
	}}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "kept"))
		cancel()
		begin := time.Now()
		err := Run(ctx, r.steps(), nil, every, slog.New(slog.DiscardHandler))
		if took := time.Since(begin); !errors.Is(err, context.DeadlineExceeded) ||
			took != LeaveTimeout {
			t.Errorf(
				"Run ended after %v with %v, want the deadline after %v", took, err, LeaveTimeout,
			)
		}
	})
	if len(r.rounds) != 0 {
		t.Errorf("%d rounds after an end that came first, want none", len(r.rounds))
	}
}

func TestLeaveErrorIsReturnedNotLogged(t *testing.T) {
	r := &room{leave: func(context.Context) error { return errors.New("remove 192.0.2.5") }}
	log, err := run(t, r, func(chan<- struct{}) {})
	if err == nil || !strings.Contains(err.Error(), "192.0.2.5") || log != "" {
		t.Errorf("Run returned %v and logged %q, want Leave's error and no log", err, log)
	}
}

func TestLeaveMayBeAbsent(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	steps := (&room{}).steps()
	steps.Leave = nil
	if err := Run(ctx, steps, nil, every, slog.New(slog.DiscardHandler)); err != nil {
		t.Errorf("Run: %v", err)
	}
}
