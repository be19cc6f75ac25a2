// Package loop runs a room's steps: observe the host, decide what it should be, publish what
// others read, apply the decision. It knows time and context, nothing of what it runs.
//
// All steps run in the caller's goroutine, one after the other, so a room needs no lock around what
// it remembers. A wake-up carries no data: whoever sends one says "look again", and several of them
// are one.
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

// Reasons says why a decision is as it is, in words for the log. Equal situations must give equal
// reasons.
type Reasons []string

// String is all of them in a line.
func (r Reasons) String() string { return strings.Join(r, "; ") }

// Steps are the parts of a room. S is what it saw, D what it wants.
type Steps[S, D any] struct {
	// Observe only reads. After an error nothing is decided or applied.
	Observe func(context.Context) (S, error)
	// Decide runs once a round, without I/O and without a clock.
	Decide func(S) (D, Reasons)
	// Publish writes what other programs read of this one: heartbeats, states, annotations. It
	// runs in every round, also if Observe failed, with the zero D then. After an error nothing is
	// applied. May be nil.
	Publish func(context.Context, D) error
	// Apply runs in every round, so it compares first. It must return when its context ends.
	Apply func(context.Context, D) error
	// Leave gives back what the room holds; may be nil.
	Leave func(context.Context) error
}

// List is what a reason names several of, as people write it.
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

// Wake asks for a round and never blocks: a round that is already asked for will see this change
// too.
func Wake(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// Run runs a round at once, then after each wake-up and at the latest every so often, until ctx
// ends. Then it calls Leave with a fresh context bounded by LeaveTimeout and returns Leave's error.
// Errors of the other steps do not end it: they are logged when more than numbers changes in their
// text.
func Run[S, D any](ctx context.Context, steps Steps[S, D], wake <-chan struct{}, every time.Duration, log *slog.Logger) error {
	var said journal
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for ctx.Err() == nil {
		round(ctx, steps, &said, log)
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

func round[S, D any](ctx context.Context, steps Steps[S, D], said *journal, log *slog.Logger) {
	var want D
	seen, failed := steps.Observe(ctx)
	if failed != nil {
		said.fault(ctx, log, "observe", failed)
	} else {
		var why Reasons
		want, why = steps.Decide(seen)
		said.decision(log, why)
	}
	if ctx.Err() != nil {
		return
	}
	if steps.Publish != nil {
		if err := steps.Publish(ctx, want); err != nil {
			said.fault(ctx, log, "publish", err)
			return
		}
	}
	if failed != nil {
		return
	}
	if err := steps.Apply(ctx, want); err != nil {
		said.fault(ctx, log, "apply", err)
		return
	}
	said.well(log)
}

// journal remembers what was said last, so that only changes are logged.
type journal struct {
	why   Reasons
	step  string // of the fault, empty when the last round went well
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

// fault leaves out what a step says because it was told to end, and what it said a moment ago in
// other numbers. A fault that shows itself now this way and now that (two servers behind one name)
// is logged once for each way.
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

func (j *journal) well(log *slog.Logger) {
	if j.step == "" {
		return
	}
	log.Info("recovered", "step", j.step, "after", time.Since(j.since).Round(time.Millisecond))
	j.step, j.news = "", News{}
}
