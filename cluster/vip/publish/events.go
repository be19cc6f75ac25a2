package publish

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/loop"
)

const (
	// maxBurst is how many Events may be made at once, and replenish how soon there may be one
	// more: a VIP that moves all the time must not fill the API.
	maxBurst  = 6
	replenish = time.Minute
	// maxAge is how long an Event is worth reporting while the API is away.
	maxAge = 10 * time.Minute
)

// The reasons of Events.
const (
	Taken = "VIPTaken"
	Lost  = "VIPLost"
)

// Change is a change of this node's part in a VIP.
type Change struct {
	At       time.Time // by the host's clock, which a person may set meanwhile
	Instance string
	VIP      netip.Addr
	Holder   bool // this node holds the VIP now
	Earlier  bool // it was so before this program started
	Why      string
}

// Event is one Event.
type Event struct {
	Reason, Message string
	At              time.Time
	noted           time.Time // its age counts from here
}

// Events makes Events about this node when it takes over or loses a VIP. What cannot be reported is
// dropped.
type Events struct {
	self   func() (node string, err error)
	report func(ctx context.Context, node string, e Event) error
	log    *slog.Logger
	wake   chan struct{}

	mu      sync.Mutex
	holder  map[string]bool // by instance
	waiting []Event
	dropped int       // since the last one that was reported
	spent   int       // of maxBurst
	since   time.Time // when the last one of them was replenished
}

// NewEvents makes Events that have reported nothing yet.
func NewEvents(
	self func() (string, error), report func(context.Context, string, Event) error,
	log *slog.Logger,
) *Events {
	return &Events{self: self, report: report, log: log, holder: map[string]bool{},
		wake: loop.NewWake()}
}

// Note takes in a change. A state from before this program started is no change now.
func (e *Events) Note(c Change) {
	e.mu.Lock()
	defer e.mu.Unlock()
	was := e.holder[c.Instance]
	if e.holder[c.Instance] = c.Holder; c.Holder == was || c.Earlier {
		return
	}
	now := time.Now()
	event := Event{Taken,
		fmt.Sprintf("This node holds the VIP %s (%s): %s", c.VIP, c.Instance, c.Why), c.At, now}
	if !c.Holder {
		event.Reason = Lost
		event.Message = fmt.Sprintf("This node holds the VIP %s (%s) no more: %s", c.VIP,
			c.Instance, c.Why)
	}
	if back := int(now.Sub(e.since) / replenish); back > 0 {
		e.spent, e.since = max(e.spent-back, 0), now
	}
	if e.spent >= maxBurst {
		e.dropped++
		return
	}
	e.spent++
	if e.dropped > 0 {
		event.Message += fmt.Sprintf(" (%d changes before were not reported: they were too many)",
			e.dropped)
		e.dropped = 0
	}
	e.waiting = append(e.waiting, event)
	loop.Wake(e.wake)
}

// Run reports until ctx ends. If the API is away it tries again, the oldest Event first.
func (e *Events) Run(ctx context.Context) error {
	var logged loop.News
	for failed := 0; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-e.wake:
		}
		for event, ok := e.next(); ok; event, ok = e.next() {
			node, err := e.self()
			if err == nil {
				err = e.report(ctx, node, event)
			}
			if err == nil {
				e.done()
				failed = 0
				continue
			}
			// The first failure may be the move that is to be reported.
			if failed++; failed > 1 && ctx.Err() == nil && logged.Is(err.Error()) {
				e.log.Warn("report a change of a VIP by an Event", "error", err)
			}
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(retryPause):
			}
		}
	}
}

// next is the oldest Event that is still worth reporting.
func (e *Events) next() (Event, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.waiting) > 0 && time.Since(e.waiting[0].noted) > maxAge {
		e.waiting = e.waiting[1:]
	}
	if len(e.waiting) == 0 {
		return Event{}, false
	}
	return e.waiting[0], true
}

func (e *Events) done() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waiting = e.waiting[1:]
}
