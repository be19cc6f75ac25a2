// Package publish writes to the API what a node has to report: annotations of its own Node, and
// Events about it. No VIP depends on a write, so none is waited for.
package publish

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/loop"
)

const (
	// writePause is the least time between two writes of an annotation: the watch has shown the
	// last one by then.
	writePause = time.Second
	// retryPause is the time between two tries to write.
	retryPause = 5 * time.Second
)

// Annotate writes an annotation of a Node.
type Annotate func(ctx context.Context, node, key, value string) error

// Annotation keeps one annotation of this node's own Node.
type Annotation struct {
	key, what string
	annotate  Annotate
	log       *slog.Logger
	wake      chan struct{}
	last      atomic.Pointer[written]
}

type written struct{ node, value string }

// NewAnnotation makes an annotation that writes nothing yet; what is its action in the log.
func NewAnnotation(key, what string, annotate Annotate, log *slog.Logger) *Annotation {
	return &Annotation{key: key, what: what, annotate: annotate, log: log, wake: loop.NewWake()}
}

// Write has Run write a value. Only the last one counts.
func (a *Annotation) Write(node, value string) {
	a.last.Store(&written{node, value})
	loop.Wake(a.wake)
}

// Withdraw takes back a value that is not written yet.
func (a *Annotation) Withdraw() { a.last.Store(nil) }

// Idle reports whether Run has begun with every Write; the last one may still be in progress.
func (a *Annotation) Idle() bool { return len(a.wake) == 0 }

// Run writes after each Write, until ctx ends. A failed write is repeated only after another Write.
func (a *Annotation) Run(ctx context.Context) error {
	var logged loop.News
	var known written
	for failed := 0; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-a.wake:
		}
		last := a.last.Load()
		if last == nil {
			continue
		}
		now, pause := *last, writePause
		err := a.annotate(ctx, now.node, a.key, now.value)
		switch {
		case err == nil && now != known:
			a.log.Info(a.what, "node", now.node, "value", now.value)
			known, failed = now, 0
		case err == nil:
			failed = 0
		default:
			pause = retryPause
			// The first failure may be a move of the VIP.
			if failed++; failed > 1 && ctx.Err() == nil && logged.Is(err.Error()) {
				a.log.Warn(a.what, "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}
