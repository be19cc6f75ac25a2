//go:build remote

package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

const (
	// mostTold is how many Events may be made at once, and everyTold how soon there may be one
	// more: a VIP that never rests fills no API.
	mostTold  = 6
	everyTold = time.Minute
	// tooOld is how long what has happened is worth telling while the API is away.
	tooOld = 10 * time.Minute
)

// The reasons of Events.
const (
	vipTaken = "VIPTaken"
	vipLost  = "VIPLost"
)

// teller makes Events about this node of what its journal says of VIPs that come and go. Nobody
// needs them: what cannot be told is dropped.
type teller struct {
	self func() (node string, err error)
	tell func(ctx context.Context, node, reason, message string, at time.Time) error
	log  *slog.Logger

	mu      sync.Mutex
	held    map[string]bool // by instance
	waiting []told
	left    int       // how many were dropped since the last one that was told
	spent   int       // of mostTold
	since   time.Time // when the last one of them came back
	news    chan struct{}
}

// told is one Event.
type told struct {
	reason, message string
	at              time.Time // by the host's clock, which somebody may set right meanwhile
	came            time.Time // when it was noted: how old it is goes by this
}

func newTeller(self func() (string, error), tell func(ctx context.Context, node, reason, message string, at time.Time) error, log *slog.Logger) *teller {
	return &teller{self: self, tell: tell, log: log, held: map[string]bool{}, news: loop.NewWake()}
}

// note takes in what was written down. What was so before somebody looked has not happened now.
func (t *teller) note(e journal.Entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	holds, held := e.State == supervised.Master, t.held[e.Instance]
	if t.held[e.Instance] = holds; holds == held || e.Late {
		return
	}
	now := time.Now()
	event := told{vipTaken, fmt.Sprintf("This node holds the VIP %s (%s): %s", e.VIP, e.Instance, e.Why), e.At, now}
	if !holds {
		event = told{vipLost, fmt.Sprintf("This node holds the VIP %s (%s) no more: %s", e.VIP, e.Instance, e.Why), e.At, now}
	}
	if back := int(now.Sub(t.since) / everyTold); back > 0 {
		t.spent, t.since = max(t.spent-back, 0), now
	}
	if t.spent >= mostTold {
		t.left++
		return
	}
	t.spent++
	if t.left > 0 {
		event.message += fmt.Sprintf(" (%d changes before were not told: they were too many)", t.left)
		t.left = 0
	}
	t.waiting = append(t.waiting, event)
	loop.Wake(t.news)
}

// follow tells until ctx ends. An API that is away is asked again while what has happened is fresh,
// once in a while and for the oldest first.
func (t *teller) follow(ctx context.Context) error {
	var said loop.News
	for failed := 0; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-t.news:
		}
		for event, ok := t.next(); ok; event, ok = t.next() {
			node, err := t.self()
			if err == nil {
				err = t.tell(ctx, node, event.reason, event.message, event.at)
			}
			if err == nil {
				t.done()
				failed = 0
				continue
			}
			if failed++; failed > 1 && ctx.Err() == nil && said.Is(err.Error()) { // the first one may have met the move that it tells of
				t.log.Warn("tell of a VIP by an Event", "error", err)
			}
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(tellPause):
			}
		}
	}
}

// next is the oldest Event that is worth telling yet.
func (t *teller) next() (told, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.waiting) > 0 && time.Since(t.waiting[0].came) > tooOld {
		t.waiting = t.waiting[1:]
	}
	if len(t.waiting) == 0 {
		return told{}, false
	}
	return t.waiting[0], true
}

func (t *teller) done() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting = t.waiting[1:]
}
