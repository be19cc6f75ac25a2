// Package session is the sessions of BGP between hosts and routers in virtual time: what their ends
// notice of each other by BFD, by hold timers and by what the kernel of a dead program sends.
package session

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/fabric"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/rules"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/world"
)

// works reports whether BGP runs at an end.
func works(w *world.World, l *world.Link, end int) bool {
	box := l.Boxes[end]
	if r := w.Router(box); r != nil {
		return r.On
	}
	return w.Hosts[box].On && w.Hosts[box].BGP.Works()
}

// detects reports whether BFD runs at an end.
func detects(w *world.World, l *world.Link, end int) bool {
	box := l.Boxes[end]
	if r := w.Router(box); r != nil {
		return r.On
	}
	return w.Hosts[box].On && w.Hosts[box].BFD.Works()
}

// flows reports whether both ends receive what the other one sends.
func flows(w *world.World, l *world.Link) bool {
	return w.Carries(l) && works(w, l, 0) && works(w, l, 1)
}

// sees reports the same of BFD.
func sees(w *world.World, l *world.Link) bool {
	return w.BGP.Model.BFD != (bgp.BFD{}) && w.Carries(l) && detects(w, l, 0) && detects(w, l, 1)
}

// Changed follows a change of a box, a cable or a daemon.
func Changed(w *world.World, box int) {
	for _, l := range w.Links {
		if l.Boxes[0] == box || l.Boxes[1] == box {
			Check(w, l)
		}
	}
}

// Check follows a change of what a link's ends receive.
func Check(w *world.World, l *world.Link) {
	for end := range l.Ends {
		e := &l.Ends[end]
		switch {
		case !e.Up:
		case l.Gone > 0 || !works(w, l, end) && !alive(w, l, end):
			down(w, l, end, false)
		case works(w, l, end) && w.Carries(l) && !l.Ends[1-end].Up:
			down(w, l, end, false) // the kernel at the other end ends the connection
		}
	}
	for end := range l.Ends {
		timers(w, l, end)
	}
	connect(w, l)
	rise(w, l)
}

// alive reports whether a program at an end is there still, though it may be stopped.
func alive(w *world.World, l *world.Link, end int) bool {
	box := l.Boxes[end]
	return w.Router(box) == nil && w.Hosts[box].On && w.Hosts[box].BGP.Runs
}

// timers start the timers of an end when packets stay away, and end them when they are back.
func timers(w *world.World, l *world.Link, end int) {
	e, t := &l.Ends[end], w.BGP.Model
	late := e.Up && !flows(w, l) && works(w, l, end)
	if late != e.Late {
		e.Late = late
		if e.Hold++; late {
			last := time.Duration(w.Random.Int64N(int64(t.Keepalive)))
			w.After(t.Hold-last, event(l, world.EvHold, end, e.Hold))
		}
	}
	if !detects(w, l, end) {
		e.BFD = false
	}
	blind := e.Up && e.BFD && !sees(w, l)
	if blind != e.Blind {
		e.Blind = blind
		if e.Missed++; blind {
			w.After(t.BFD.Detection()-lastSent(w), event(l, world.EvMissed, end, e.Missed))
		}
	}
}

func event(l *world.Link, kind world.EventKind, end int, gen uint32) world.Event {
	return world.Event{Kind: kind, Box: int16(l.Index), Arg: int32(end), Gen: gen}
}

// Missed ends a session if BFD still misses packets when its detection time has passed.
func Missed(w *world.World, l *world.Link, end int, gen uint32) {
	if e := &l.Ends[end]; gen == e.Missed && e.Blind {
		down(w, l, end, true)
		Check(w, l)
	}
}

// Held ends a session if packets still stay away when its hold timer has expired.
func Held(w *world.World, l *world.Link, end int, gen uint32) {
	if e := &l.Ends[end]; gen == e.Hold && e.Late {
		down(w, l, end, false)
		Check(w, l)
	}
}

// Flap has BFD end a session without reason.
func Flap(w *world.World, l *world.Link) {
	if l.Ends[1].Up && l.Ends[1].BFD {
		down(w, l, 1, true)
		Check(w, l)
	}
}

// down ends a session at one end. A router that keeps routes does so if BFD did not end it.
func down(w *world.World, l *world.Link, end int, byBFD bool) {
	e := &l.Ends[end]
	*e = world.End{Hold: e.Hold + 1, Missed: e.Missed + 1}
	l.Gen++
	l.Rises++
	l.Rising = false
	if r := w.Router(l.Boxes[end]); r != nil && r.Keeps > 0 && !byBFD && l.Gone == 0 && r.On {
		return
	}
	forget(w, l, end)
}

// forget removes what an end has received.
func forget(w *world.World, l *world.Link, end int) {
	if r := w.Router(l.Boxes[end]); r != nil && r.On {
		for _, t := range r.Tables {
			if t.In[l.Port[end]].Any() {
				rules.Lost(w)
			}
		}
	}
	for _, v := range schedule.VIPs() {
		learn(w, l, end, int(v), fabric.Path{})
	}
}

// connect has the lower end try again.
func connect(w *world.World, l *world.Link) {
	possible := flows(w, l) && (!l.Ends[0].Up || !l.Ends[1].Up)
	if possible && !l.Trying {
		l.Trying = true
		l.Tries++
		w.After(w.Take(world.Connects), event(l, world.EvConnect, 0, l.Tries))
	}
}

// Connect is a try to connect.
func Connect(w *world.World, l *world.Link, gen uint32) {
	if gen != l.Tries {
		return
	}
	if l.Trying = false; !flows(w, l) {
		return
	}
	for end := range l.Ends {
		down(w, l, end, true)
		l.Ends[end].Up, l.Ends[end].Since = true, w.Now
	}
	for end := range l.Ends {
		for _, v := range schedule.VIPs() {
			Send(w, l, end, int(v))
		}
	}
	Check(w, l)
}

// rise has BFD come up.
func rise(w *world.World, l *world.Link) {
	up := l.Ends[0].Up && l.Ends[1].Up
	if up && sees(w, l) && !(l.Ends[0].BFD && l.Ends[1].BFD) && !l.Rising {
		l.Rising = true
		l.Rises++
		w.After(w.Take(world.BFDUp), event(l, world.EvBFD, 0, l.Rises))
	}
}

// Risen brings BFD up. If a host's daemons are new, BFD may end its session once instead.
func Risen(w *world.World, l *world.Link, gen uint32) {
	if gen != l.Rises || !l.Rising {
		return
	}
	l.Rising = false
	if !sees(w, l) || !l.Ends[0].Up || !l.Ends[1].Up {
		return
	}
	first := !l.Calm && w.Router(l.Boxes[0]) == nil
	l.Calm = true
	if first && w.Draws(world.Flaps()) {
		down(w, l, 1, true)
		Check(w, l)
		return
	}
	for end := range l.Ends {
		l.Ends[end].BFD = true
	}
	Check(w, l)
}
