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
	// maxBurst is how many Events of a subject may be made at once, and replenish how soon there
	// may be one more: a VIP that moves all the time, or a session that flaps, must not fill the
	// API, nor keep Events of other subjects from it.
	maxBurst  = 6
	replenish = time.Minute
	// maxRoutes is maxBurst for routes: a node that leaves in order has two Events for each VIP.
	maxRoutes = 16
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
	Warning         bool // something is wrong
	At              time.Time
	noted           time.Time // its age counts from here
}

// subject is what Events are about: each one has its own bound.
type subject string

const (
	elections subject = "changes"
	routes    subject = "changes of what this node announces"
	routers   subject = "changes of the session with the router " // and its name
	others    subject = "changes of other announcers"
)

// bound limits the Events of a subject.
type bound struct {
	dropped int       // since the last one that was reported
	spent   int       // of the burst
	since   time.Time // when the last one of them was replenished
}

// Events makes Events about this node when it takes over or loses a VIP, or announces one or does
// not, and when it loses a router. What cannot be reported is dropped.
type Events struct {
	self   func() (node string, err error)
	report func(ctx context.Context, node string, e Event) error
	log    *slog.Logger
	wake   chan struct{}

	mu      sync.Mutex
	holder  map[string]bool  // by instance
	states  map[about]string // of what is announced by BGP
	waiting []Event
	bounds  map[subject]*bound
}

// NewEvents makes Events that have reported nothing yet.
func NewEvents(
	self func() (string, error), report func(context.Context, string, Event) error,
	log *slog.Logger,
) *Events {
	return &Events{self: self, report: report, log: log, holder: map[string]bool{},
		states: map[about]string{}, bounds: map[subject]*bound{}, wake: loop.NewWake()}
}

// Note takes in a change. A state from before this program started is no change now.
func (e *Events) Note(c Change) {
	e.mu.Lock()
	defer e.mu.Unlock()
	was := e.holder[c.Instance]
	if e.holder[c.Instance] = c.Holder; c.Holder == was || c.Earlier {
		return
	}
	event := Event{Reason: Taken, At: c.At,
		Message: fmt.Sprintf("This node holds the VIP %s (%s): %s", c.VIP, c.Instance, c.Why)}
	if !c.Holder {
		event.Reason = Lost
		event.Message = fmt.Sprintf("This node holds the VIP %s (%s) no more: %s", c.VIP,
			c.Instance, c.Why)
	}
	e.add(elections, event)
}

// add has an Event reported, unless there were too many of its subject.
func (e *Events) add(of subject, event Event) {
	event.noted = time.Now()
	b, most := e.bounds[of], maxBurst
	if b == nil {
		b = &bound{}
		e.bounds[of] = b
	}
	if of == routes {
		most = maxRoutes
	}
	if back := int(event.noted.Sub(b.since) / replenish); back > 0 {
		b.spent, b.since = max(b.spent-back, 0), event.noted
	}
	if b.spent >= most {
		b.dropped++
		return
	}
	b.spent++
	if b.dropped > 0 {
		event.Message += fmt.Sprintf(" (%d %s before were not reported: they were too many)",
			b.dropped, of)
		b.dropped = 0
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
