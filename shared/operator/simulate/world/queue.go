package world

import "time"

// Event is something that is due. A timer that is set anew gets the next generation; an event of an
// earlier generation has no effect.
type Event struct {
	At    time.Duration
	Gen   uint32
	Arg   int32
	Kind  EventKind
	Host  int8
	Other int8
}

// Event is an event of a host, of a generation.
func (h *Host) Event(kind EventKind, gen uint32) Event {
	return Event{Kind: kind, Host: int8(h.Index), Gen: gen}
}

// About is the event with another host, or one of several checks, by its index.
func (e Event) About(other int) Event {
	e.Other = int8(other)
	return e
}

// With is the event with an argument of its kind.
func (e Event) With(arg int32) Event {
	e.Arg = arg
	return e
}

// If is the event with an argument of 1 or, without the condition, of 0.
func (e Event) If(condition bool) Event {
	if e.Arg = 0; condition {
		e.Arg = 1
	}
	return e
}

// StartPart starts a part of a host after a pause.
func (w *World) StartPart(h *Host, p Part, pause time.Duration) {
	w.After(pause, h.Event(EvPart, h.Boots).With(int32(p)))
}

// EventKind is what an event is about.
type EventKind uint8

const (
	EvFault          EventKind = iota // a fault of the schedule begins
	EvHealed                          // and ends
	EvAdvert                          // an advert arrives
	EvTimer                           // a router's timer has run out
	EvTrack                           // keepalived reads its tracked files
	EvAddress                         // keepalived has put the VIP on its interface
	EvDrop                            // and taken it off
	EvARP                             // keepalived repeats its announcements of the VIP
	EvStart                           // keepalived starts
	EvRemoveVIP                       // the supervisor takes the VIP off
	EvOrphan                          // the monitor takes it off, as the supervisor is dead
	EvResume                          // the supervisor continues keepalived
	EvReleaseTimeout                  // the supervisor has waited for long enough
	EvSettled                         // an instance has settled
	EvState                           // the supervisor receives a new state
	EvHeartbeatLost                   // the monitor's heartbeat has timed out
	EvUnserved                        // the supervisor learns that the VIP is not served here
	EvProbe                           // a check begins a probe
	EvProbeResult                     // and has its finding
	EvServerProbe                     // a balancer probes an API server
	EvMonitorRound                    // a round of the balancer's monitor
	EvRedirect                        // and sets or removes the redirect
	EvGate                            // the node has seen the API work
	EvLearn                           // a host learns of another one
	EvBootstrapProbe                  // the bootstrap machine probes its API
	EvPowerOff                        // a host that shuts down in order is off
	EvPart                            // a part of a host starts
	EvClient                          // the client sends a request
)

// OnGrid is the next time after now of something that has a period and a phase.
func (w *World) OnGrid(phase, every time.Duration) time.Duration {
	if every <= 0 {
		return w.Now
	}
	next := w.Now - (w.Now-phase)%every
	for next <= w.Now {
		next += every
	}
	return next
}

// Part is what runs on a host beside keepalived's supervisor.
type Part int32

const (
	PartKeepalived Part = iota
	PartLB
	PartAPI
	PartMCS
	PartPower
	PartNode // the Node object
	PartRouter
	PartDNS
	PartMonitor
)
