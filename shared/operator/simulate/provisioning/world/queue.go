package world

import "time"

// Event is something that is due. It has no effect if its generation Gen has ended since.
type Event struct {
	At   time.Duration
	Gen  uint32
	Arg  int32
	Host int16
	Kind EventKind
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
	EvPerson                  // a person gives the next command
	EvJudge                   // nothing but the rules
)

// At has an event happen at a time.
func (w *World) At(when time.Duration, e Event) {
	e.At = when
	w.Queue.Push(when, e)
}

// After has an event happen after a while.
func (w *World) After(d time.Duration, e Event) { w.At(w.Now+d, e) }

// Soon has an event happen within a span.
func (w *World) Soon(span Span, e Event) { w.At(w.Now+w.Take(span), e) }
