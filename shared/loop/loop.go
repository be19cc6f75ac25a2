// Package loop reconciles: it runs a room's steps (observe the host, decide what it should be,
// publish what others read, apply the decision) in one goroutine, after each wake-up and at
// intervals.
//
// The steps run one after the other, so a room needs no lock around its state. A wake-up carries no
// data and means "observe again"; several wake-ups are one.
package loop

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
)

// LeaveTimeout bounds Leave, which runs when its caller's context has already ended. It is shorter
// than the time that the units have to stop.
const LeaveTimeout = 30 * time.Second

// Reasons are why a decision was made, for the log. Equal situations must give equal reasons.
type Reasons []string

// String joins all reasons in a line.
func (r Reasons) String() string { return strings.Join(r, "; ") }

// Steps are the steps of a room. S is what it observed, D what it decided.
type Steps[S, D any] struct {
	// Observe only reads. After an error nothing is decided or applied.
	Observe func(context.Context) (S, error)
	// Decide runs once a round, without I/O and without a clock.
	Decide func(S) (D, Reasons)
	// Publish writes what other programs read of this one: heartbeats, states, annotations. It
	// runs in every round, also if Observe failed, with the zero D then, which is no decision:
	// what was written of an earlier one stays, or reports that nothing could be observed. After
	// an error nothing is applied. May be nil.
	Publish func(context.Context, D) error
	// Apply runs in every round, so it compares first. It must return when its context ends.
	Apply func(context.Context, D) error
	// Leave releases what the room holds; may be nil.
	Leave func(context.Context) error
}

// List joins values for a reason, as people write them.
func List[T any](all []T) string {
	if len(all) == 0 {
		return "none"
	}
	words := make([]string, len(all))
	for i, one := range all {
		words[i] = fmt.Sprint(one)
	}
	return strings.Join(words, ", ")
}

// NewWake makes the one-slot channel of wake-ups.
func NewWake() chan struct{} { return make(chan struct{}, 1) }

// Wake requests a round and never blocks: a round that is already requested observes this change
// too.
func Wake(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// Run runs a round at once, then after each wake-up and at the latest every so often, until ctx
// ends. Then it calls Leave with a fresh context bounded by LeaveTimeout and returns Leave's error.
// Errors of the other steps do not end it: they are logged when their text changes in more than
// numbers.
func Run[S, D any](
	ctx context.Context, steps Steps[S, D], wake <-chan struct{}, every time.Duration,
	log *slog.Logger,
) error {
	var logged journal
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for ctx.Err() == nil {
		round(ctx, steps, &logged, log)
		select {
		case <-ctx.Done():
		case <-wake:
		case <-ticker.C:
		}
	}
	if steps.Leave == nil {
		return nil
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), LeaveTimeout)
	defer cancel()
	return steps.Leave(last)
}

func round[S, D any](ctx context.Context, steps Steps[S, D], logged *journal, log *slog.Logger) {
	var want D
	seen, failed := steps.Observe(ctx)
	if failed != nil {
		logged.fault(ctx, log, "observe", failed)
	} else {
		var why Reasons
		want, why = steps.Decide(seen)
		logged.decision(log, why)
	}
	if ctx.Err() != nil {
		return
	}
	if steps.Publish != nil {
		if err := steps.Publish(ctx, want); err != nil {
			logged.fault(ctx, log, "publish", err)
			return
		}
	}
	if failed != nil {
		return
	}
	if err := steps.Apply(ctx, want); err != nil {
		logged.fault(ctx, log, "apply", err)
		return
	}
	logged.recovered(log)
}

// journal is what was logged last, so that only changes are logged.
type journal struct {
	why   Reasons
	step  string // of the fault, empty if the last round had none
	news  News   // of the fault so far
	since time.Time
}

func (j *journal) decision(log *slog.Logger, why Reasons) {
	if slices.Equal(j.why, why) {
		return
	}
	j.why = slices.Clone(why)
	log.Info("decide", "why", why.String())
}

// fault does not log an error that the end of ctx caused, nor one that differs from a recent one in
// numbers only. A fault that alternates (two servers behind one name) is logged once for each
// text.
func (j *journal) fault(ctx context.Context, log *slog.Logger, step string, err error) {
	if ctx.Err() != nil {
		return
	}
	if j.step == "" {
		j.since, j.news = time.Now(), News{trials: forgetTrials}
	}
	j.step = step
	if j.news.Is(step + ": " + err.Error()) {
		log.Warn(step, "error", err)
	}
}

func (j *journal) recovered(log *slog.Logger) {
	if j.step == "" {
		return
	}
	log.Info("recovered", "step", j.step, "after", time.Since(j.since).Round(time.Millisecond))
	j.step, j.news = "", News{}
}
