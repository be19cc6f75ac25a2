// Package host is the programs of a host that announces VIPs, in virtual time: FRR with its parent,
// which decides as the product does, the monitor with its checks, and what they are about.
package host

import (
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/fabric"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/rules"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/session"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/world"
	"github.com/onprem-infra/onprem-infra/shared/speak"
)

// vips are those that a host may announce.
func vips(w *world.World, h *world.Host) (all []netip.Addr) {
	for _, v := range schedule.VIPs() {
		if w.Announces(h.Index, v) {
			all = append(all, world.Address(v))
		}
	}
	return all
}

// Wake has the speaker do a round at once.
func Wake(w *world.World, h *world.Host) { again(w, h, 0) }

func again(w *world.World, h *world.Host, pause time.Duration) {
	h.Rounds++
	w.After(pause, world.Event{Kind: world.EvRound, Box: int16(h.Index), Gen: h.Rounds})
}

// Round is a round of a speaker: it observes, has the product decide, and does what was decided.
func Round(w *world.World, h *world.Host) {
	if !h.On || !h.Speaks {
		return
	}
	o := observe(w, h)
	before := h.State
	d := speak.Decide(vips(w, h), before, o)
	h.State = d.State
	for _, v := range schedule.VIPs() {
		if was, is := before[world.Address(v)].Phase, d.State[world.Address(v)].Phase; was != is {
			rules.Phase(w, h, v, was, is)
		}
	}
	apply(w, h, d)
	next := world.Round
	if !d.Again.IsZero() {
		next = min(next, d.Again.Sub(o.Now))
	}
	if d.Soon {
		next = world.Next
	}
	if d.Left && h.Leaving {
		leave(w, h)
		return
	}
	again(w, h, next)
}

// observe is what a round sees: what bgpd answers, or if it does not answer, what it did before.
func observe(w *world.World, h *world.Host) speak.Observed {
	o := speak.Observed{Now: w.Clock(), Wish: wish(w, h), Advertised: map[netip.Addr]bool{},
		Others: map[netip.Addr]bool{}}
	switch {
	case !h.BGP.Runs:
		h.Kept = [2]bool{}
	case h.BGP.Frozen:
		o.Unsure = true
	default:
		h.Kept = [2]bool{}
		for _, i := range h.Ports {
			asked(w, h, w.Links[i], &o)
		}
	}
	for _, v := range schedule.VIPs() {
		o.Advertised[world.Address(v)] = h.Kept[v]
	}
	return o
}

// asked is what bgpd answers about a session.
func asked(w *world.World, h *world.Host, l *world.Link, o *speak.Observed) {
	e := l.Ends[0]
	if !e.Up {
		return
	}
	o.Ready = o.Ready ||
		speak.Ready(w.Now-e.Since, e.BFD || w.BGP.Model.BFD == (bgp.BFD{}))
	for _, v := range schedule.VIPs() {
		h.Kept[v] = h.Kept[v] || e.Out[v].Any()
		p := h.In[v][l.Port[0]]
		other := p.Any() && p.Host() != h.Index && bgp.Grade(p.Grade) < w.Policy(v).Leaving()
		o.Others[world.Address(v)] = o.Others[world.Address(v)] || other
	}
}

// wish is what the monitor wants.
func wish(w *world.World, h *world.Host) speak.Wish {
	beat := w.Now
	if !h.Watches {
		beat = h.Beat
	}
	out := speak.Wish{Beat: world.Time(beat), Leaving: h.Leaving || h.Yields, Died: h.Died,
		VIPs: map[netip.Addr]speak.Route{}}
	for _, v := range schedule.VIPs() {
		if h.Wish[v] {
			route := h.Route[v]
			if w.Defect == schedule.Abrupt {
				route.Demotions = []bgp.Grade{route.Grade}
			}
			out.VIPs[world.Address(v)] = route
		}
	}
	return out
}

// apply does what was decided: addresses come before routes, and go after them.
func apply(w *world.World, h *world.Host, d speak.Decision) {
	var wants [2]fabric.Path
	for _, v := range schedule.VIPs() {
		held := slices.Contains(d.Addresses, world.Address(v))
		if grade, ok := d.Announced[world.Address(v)]; ok {
			wants[v] = fabric.Announce(h.Index, int(grade))
		} else if w.Defect == schedule.Bare && d.State[world.Address(v)].Phase == speak.Withdrawn {
			held = false
		}
		if held != h.Held[v] {
			h.Held[v], w.Dirty = held, true
		}
	}
	if len(d.Disobeyed) > 0 {
		w.Note(w.Name(h.Index), "bgpd does not withdraw, and is killed")
		Kill(w, h, world.PartBGP)
		return
	}
	if h.BGP.Works() && wants != h.Sent && !h.Collecting {
		h.Collecting = true
		w.After(w.Take(world.Collects), world.Event{Kind: world.EvAnnounce, Box: int16(h.Index),
			Gen: h.BGP.Gen})
	}
	h.Wants = wants
}

// Announce has bgpd announce what its parent wants.
func Announce(w *world.World, h *world.Host, gen uint32) {
	if gen != h.BGP.Gen {
		return
	}
	h.Collecting = false
	if !h.BGP.Works() {
		return
	}
	for _, v := range schedule.VIPs() {
		if h.Wants[v].Any() && !h.Sent[v].Any() {
			rules.Announces(w, h, v)
			if w.Defect == schedule.Forgetful && w.Now >= 0 {
				h.Wants[v] = fabric.Path{}
			}
		}
	}
	h.Sent = h.Wants
	for _, i := range h.Ports {
		for _, v := range schedule.VIPs() {
			session.Send(w, w.Links[i], 0, int(v))
		}
	}
}
