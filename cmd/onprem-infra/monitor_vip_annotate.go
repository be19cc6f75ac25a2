//go:build remote

package main

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// annotatePause is the least time between two writes of an annotation: the watch has shown the last
// one by then.
const annotatePause = time.Second

// annotation keeps one annotation of this node's own Node.
type annotation struct {
	key, what string // what it says, in the log
	api       *kube.API
	log       *slog.Logger
	asked     chan struct{}
	last      atomic.Pointer[annotated]
}

type annotated struct{ node, value string }

// tellPause is the least time between two tries to write to the cluster.
const tellPause = 5 * time.Second

func newAnnotation(key, what string, api *kube.API, log *slog.Logger) *annotation {
	return &annotation{key: key, what: what, api: api, log: log, asked: loop.NewWake()}
}

// write has follow write. The last value counts.
func (a *annotation) write(node, value string) {
	a.last.Store(&annotated{node, value})
	loop.Wake(a.asked)
}

// withdraw takes back a value that has not been written yet.
func (a *annotation) withdraw() { a.last.Store(nil) }

// follow writes, whenever it is asked to, until ctx ends. What cannot be written is tried again as
// long as it is asked for.
func (a *annotation) follow(ctx context.Context) error {
	var said loop.News
	var known annotated
	for failed := 0; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-a.asked:
		}
		asked := a.last.Load()
		if asked == nil {
			continue
		}
		now, pause := *asked, annotatePause
		err := a.api.Annotate(ctx, now.node, a.key, now.value)
		switch {
		case err == nil && now != known:
			a.log.Info(a.what, "node", now.node, "value", now.value)
			known, failed = now, 0
		case err == nil:
			failed = 0
		default:
			pause = tellPause
			if failed++; failed > 1 && ctx.Err() == nil && said.Is(err.Error()) { // the first one may have met a move of the VIP
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
