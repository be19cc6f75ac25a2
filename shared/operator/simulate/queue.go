package simulate

import "time"

// event is something that is due. A timer that was set anew has another generation, and what was
// due for the former one is nothing.
type event struct {
	at    time.Duration
	order uint32 // of those that are due at one time
	gen   uint32
	arg   int32
	kind  kind
	host  int8
	other int8
}

// kind says what an event is about.
type kind uint8

const (
	evFault    kind = iota // a fault of the schedule begins
	evHealed               // and ends
	evAdvert               // an advert arrives
	evTimer                // a router's timer has run out
	evTrack                // keepalived reads its tracked files
	evAddress              // keepalived has put the VIP on its interface
	evDrop                 // and taken it off
	evARP                  // it tells the network again where the VIP is
	evStart                // keepalived starts
	evStrip                // the supervisor takes the VIP off
	evOutlived             // the monitor takes it off, as the supervisor is dead
	evThaw                 // the supervisor continues keepalived
	evLeave                // the supervisor has waited for long enough
	evSettled              // an instance has waited for long enough to be trusted with its rank
	evBonus                // the supervisor has heard of a new state
	evSilent               // the supervisor has not heard the monitor for long
	evQuit                 // the supervisor hears that the VIP is not served here
	evLook                 // a check looks
	evFinding              // and has its finding
	evServer               // a balancer looks at an API server
	evMonitor              // the balancer's monitor looks at it
	evRedirect             // and turns the redirect
	evServed               // the node has seen the API work
	evLearn                // a host learns of another one
	evRelease              // the bootstrap machine looks at its API
	evOrder                // a host that shuts down in order is off
	evPart                 // of a host starts
	evClient               // a client asks
)

// queue gives events in the order of time.
type queue struct {
	events []event
	next   uint32
}

func (q *queue) empty() bool { return len(q.events) == 0 }

func earlier(a, b *event) bool { return a.at < b.at || a.at == b.at && a.order < b.order }

func (q *queue) push(e event) {
	q.next++
	e.order = q.next
	q.events = append(q.events, e)
	i := len(q.events) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !earlier(&e, &q.events[up]) {
			break
		}
		q.events[i] = q.events[up]
		i = up
	}
	q.events[i] = e
}

func (q *queue) pop() event {
	first, last := q.events[0], len(q.events)-1
	e := q.events[last]
	q.events = q.events[:last]
	if last == 0 {
		return first
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= last {
			break
		}
		if child+1 < last && earlier(&q.events[child+1], &q.events[child]) {
			child++
		}
		if !earlier(&q.events[child], &e) {
			break
		}
		q.events[i] = q.events[child]
		i = child
	}
	q.events[i] = e
	return first
}
