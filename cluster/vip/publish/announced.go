package publish

import (
	"fmt"
	"net/netip"
	"time"
)

// The reasons of Events about what a node announces by BGP.
const (
	Announced  = "VIPAnnounced"
	Demoted    = "VIPDemoted"
	Withdrawn  = "VIPWithdrawn"
	RouterLost = "BGPSessionLost"
	RouterBack = "BGPSessionBack"
	BFDLost    = "BFDLost"
	BFDBack    = "BFDBack"
	Foreign    = "VIPForeignAnnouncer"
	NoForeign  = "VIPNoForeignAnnouncer"
)

// about is the key of a state: one of the reasons above, and the VIP or router that it is about.
type about struct{ reason, name string }

// Route is how this node announces a VIP since At. If neither Anything nor Behind is set, no
// router has it from this node.
type Route struct {
	At       time.Time // by the host's clock
	VIP      netip.Addr
	Anything bool // some router has it from this node
	Behind   bool // behind all other nodes: it leaves, or does not know what it serves
	Earlier  bool // it was so before this program started
	Why      string
}

// NoteRoute takes in how a VIP is announced. Another length of the path alone makes no Event.
func (e *Events) NoteRoute(r Route) {
	is, event := Withdrawn, "This node does not announce the VIP %s any more: %s"
	switch {
	case r.Behind:
		is, event = Demoted, "This node announces the VIP %s behind all other nodes: %s"
	case r.Anything:
		is, event = Announced, "This node announces the VIP %s to its routers: %s"
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	was, known := e.become(about{Announced, r.VIP.String()}, is)
	if r.Earlier || was == is || !known && is == Withdrawn {
		return
	}
	e.add(routes, Event{Reason: is, At: r.At, Message: fmt.Sprintf(event, r.VIP, r.Why)})
}

// Reach is whether a session with a router, or its BFD, is up since At.
type Reach struct {
	At      time.Time // by the host's clock
	Router  string
	BFD     bool // of a session that is up
	Up      bool
	Earlier bool // it was so before this program started
	Why     string
}

// NoteReach takes in a change of a session. The first time that it is up makes no Event. If it
// is up twice in a row, it was lost meanwhile: the Event reports that.
func (e *Events) NoteReach(r Reach) {
	lost, back, what := RouterLost, RouterBack, "The BGP session with the router"
	if r.BFD {
		lost, back, what = BFDLost, BFDBack, "BFD with the router"
	}
	is := lost
	if r.Up {
		is = back
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	was, known := e.become(about{lost, r.Router}, is)
	switch {
	case r.Earlier, !r.Up && was == lost, r.Up && !known:
	case r.Up && was == lost:
		e.add(routers+subject(r.Router), Event{Reason: back, At: r.At,
			Message: fmt.Sprintf("%s %s is up again: %s", what, r.Router, r.Why)})
	default:
		e.add(routers+subject(r.Router), Event{Reason: lost, At: r.At, Warning: true,
			Message: fmt.Sprintf("%s %s is lost: %s", what, r.Router, r.Why)})
	}
}

// Outsider is whether a host that is not of the cluster announces a VIP since At.
type Outsider struct {
	At      time.Time // by the host's clock
	VIP     netip.Addr
	There   bool
	Earlier bool // it was so before this program started
	Why     string
}

// NoteOutsider takes in what routers report of other announcers of a VIP.
func (e *Events) NoteOutsider(o Outsider) {
	event := Event{Reason: Foreign, At: o.At, Warning: true, Message: fmt.Sprintf("A host that is "+
		"not of this cluster announces the VIP %s, and routers send connections there: %s",
		o.VIP, o.Why)}
	if !o.There {
		event = Event{Reason: NoForeign, At: o.At, Message: fmt.Sprintf("No host outside of this "+
			"cluster announces the VIP %s any more: %s", o.VIP, o.Why)}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	was, known := e.become(about{Foreign, o.VIP.String()}, event.Reason)
	if !o.Earlier && was != event.Reason && (known || o.There) {
		e.add(others, event)
	}
}

// become notes a state, and returns the one before.
func (e *Events) become(of about, is string) (was string, known bool) {
	was, known = e.states[of]
	e.states[of] = is
	return was, known
}
