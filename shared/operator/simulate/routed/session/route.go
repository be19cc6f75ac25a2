package session

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/fabric"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/world"
)

// lastSent is how long before a loss the last packet of BFD arrived: at most an interval, which
// the sender shortens by a tenth and more (RFC 5880, 6.8.7).
func lastSent(w *world.World) time.Duration {
	return time.Duration(w.Random.Int64N(int64(w.BGP.Model.BFD.Interval)))
}

// Send sends what an end has to announce, if that differs from what it has sent last.
func Send(w *world.World, l *world.Link, end, v int) {
	e := &l.Ends[end]
	if !e.Up {
		return
	}
	var p fabric.Path
	if box := l.Boxes[end]; w.Router(box) != nil {
		p = w.Router(box).Tables[v].Export(l.Port[end])
	} else {
		p = w.Hosts[box].Sent[v]
	}
	if p != e.Out[v] {
		e.Out[v] = p
		w.After(world.Wire, message(l, end, v))
	}
}

func message(l *world.Link, end, v int) world.Event {
	e := event(l, world.EvRoute, end, l.Gen)
	e.Arg += int32(v) * int32(len(l.Ends))
	return e
}

// Receive is the arrival of what an end has sent last. A message that is lost is sent again.
func Receive(w *world.World, l *world.Link, arg int32, gen uint32) {
	end, v := int(arg)%len(l.Ends), int(arg)/len(l.Ends)
	if gen != l.Gen || !l.Ends[1-end].Up {
		return
	}
	if !flows(w, l) {
		w.After(world.Resends, message(l, end, v))
		return
	}
	learn(w, l, 1-end, v, l.Ends[end].Out[v])
}

// learn is what an end receives.
func learn(w *world.World, l *world.Link, end, v int, p fabric.Path) {
	box, port := l.Boxes[end], l.Port[end]
	r := w.Router(box)
	if r == nil {
		w.Hosts[box].In[v][port] = p
		return
	}
	t := r.Tables[v]
	if l.Gone > 0 && t.Drop(port) {
		w.Dirty = true
	}
	if t.Learn(port, p) {
		Rechoose(w, r)
	}
}

// Rechoose has a router choose again.
func Rechoose(w *world.World, r *world.Router) {
	if r.On && !r.Pending {
		r.Pending = true
		w.After(w.Take(world.Collects), world.Event{Kind: world.EvChoose, Box: int16(r.Box),
			Gen: r.Boots})
	}
}

// Choose has a router work on what it has received, and announce what follows.
func Choose(w *world.World, r *world.Router) {
	r.Pending = false
	for v, t := range r.Tables {
		if t.Choose() {
			w.Dirty = true
		}
		for _, i := range r.Ports {
			l := w.Links[i]
			end := 0
			if l.Boxes[1] == r.Box {
				end = 1
			}
			Send(w, l, end, v)
		}
	}
}

// Forget removes the routes that a router has kept of sessions that have ended.
func Forget(w *world.World, r *world.Router) {
	for _, i := range r.Ports {
		l := w.Links[i]
		for end := range l.Ends {
			if l.Boxes[end] == r.Box && !l.Ends[end].Up {
				forget(w, l, end)
			}
		}
	}
}
