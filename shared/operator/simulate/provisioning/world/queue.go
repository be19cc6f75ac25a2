package world

import (
	"cmp"
	"slices"
	"time"
)

// Event is something that is due. What was set before a generation ended has no effect.
type Event struct {
	At    time.Duration
	order uint32
	Gen   uint32
	Arg   int32
	Host  int16
	Kind  EventKind
}

// EventKind is what an event is about.
type EventKind uint8

// The events.
const (
	EvFault  EventKind = iota // a fault of the schedule begins
	EvHealed                  // and ends
	EvBoot                    // a stage of a host's boot
	EvCall                    // a ramdisk reports
	EvWrite                   // a ramdisk has fetched the image, or has written it
	EvJoin                    // a system tries to join
	EvWork                    // Ironic goes on with a node
	EvLate                    // Ironic has waited for a ramdisk for long enough
	EvPhases                  // a round of the phase machine
	EvPart                    // a round of a part of the bootstrap machine
	EvPartOn                  // a part has done what it was ordered
	EvPower                   // the bootstrap machine's programs start
	EvServer                  // a round of a node's DHCP program
	EvProbe                   // a node's check of Ironic
	EvAsk                     // a node asks which machine has the address
	EvTake                    // a backup has waited for adverts for long enough
	EvYield                   // a router receives the advert of a better one
	EvPod                     // Ironic's pod
	EvMissed                  // Kubernetes misses a node
	EvMetal3                  // a round of metal3, and of who releases hosts
	EvSeat                    // a node's programs start
	EvJudge                   // nothing but the rules
)

type queue struct {
	events []Event // the next one last
	next   uint32
}

// Empty reports whether nothing is due any more.
func (q *queue) Empty() bool { return len(q.events) == 0 }

func (q *queue) push(e Event) {
	q.next++
	e.order = q.next
	at, _ := slices.BinarySearchFunc(q.events, e, func(a, b Event) int {
		return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(b.order, a.order))
	})
	q.events = slices.Insert(q.events, at, e)
}

// Pop takes the next event.
func (q *queue) Pop() Event {
	last := len(q.events) - 1
	e := q.events[last]
	q.events = q.events[:last]
	return e
}

// At has an event happen at a time.
func (w *World) At(when time.Duration, e Event) {
	e.At = when
	w.Queue.push(e)
}

// After has an event happen after a while.
func (w *World) After(d time.Duration, e Event) { w.At(w.Now+d, e) }

// Soon has an event happen within a span.
func (w *World) Soon(span Span, e Event) { w.At(w.Now+w.Take(span), e) }
