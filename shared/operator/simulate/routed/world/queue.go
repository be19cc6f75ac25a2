package world

import "time"

// Event is something that is due. An event of an earlier generation has no effect.
type Event struct {
	At   time.Duration
	Gen  uint32
	Arg  int32
	Box  int16
	Kind EventKind
}

// EventKind is what an event is about.
type EventKind uint8

// The events.
const (
	EvFault    EventKind = iota // a fault of the schedule begins
	EvHealed                    // and ends
	EvRoute                     // a message about a VIP arrives at an end of a link
	EvChoose                    // a router works on what it has received
	EvAnnounce                  // a host's bgpd announces what its parent wants
	EvConnect                   // a link's lower end tries to connect
	EvMissed                    // BFD misses a neighbour
	EvHold                      // a session's hold time ends
	EvBFD                       // BFD comes up
	EvRound                     // a round of a speaker
	EvProbe                     // a probe of a monitor, with the index of its check
	EvLate                      // and its timeout
	EvPorts                     // a probe of the ports behind a VIP
	EvGate                      // a probe of whether the API works
	EvRelease                   // a probe of the bootstrap machine
	EvRedirect                  // the monitor sets or removes the redirect
	EvPart                      // a part of a host starts
	EvOff                       // a host's power goes, in order
	EvNotice                    // a speaker notices that the monitor has died
	EvDrained                   // an API server ends that announced its shutdown
	EvForwards                  // a router has started
)

// Part is a part of a host that starts.
type Part int32

// The parts.
const (
	PartPower Part = iota
	PartPrograms
	PartAPI
	PartLB
	PartIngress
	PartMonitor
	PartSpeaker
	PartZebra
	PartBFD
	PartBGP
)

// ScheduleAt has an event happen at a time.
func (w *World) ScheduleAt(when time.Duration, e Event) {
	e.At = when
	w.Queue.Push(when, e)
}

// After has an event happen after a while.
func (w *World) After(d time.Duration, e Event) { w.ScheduleAt(w.Now+d, e) }

// Start has a part of a host start after a while, unless the host boots meanwhile.
func (w *World) Start(h *Host, p Part, pause time.Duration) {
	w.After(pause, Event{Kind: EvPart, Box: int16(h.Index), Gen: h.Boots, Arg: int32(p)})
}
