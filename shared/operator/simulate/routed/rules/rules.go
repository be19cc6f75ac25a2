// Package rules judges a run of a cluster that announces its VIPs: what must hold whatever happens.
package rules

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/world"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// The rules.
const (
	Serves = "R1 the host to which a router leads clients serves, or fails for no longer than " +
		"the bound"
	Announced = "R2 a host is announced while one serves and has a session"
	Last      = "R3 no host withdraws the last route while another one serves and is not announced"
	Bootstrap = "R4 no router prefers a node to the bootstrap machine, and no node announces " +
		"before its gate opens"
	Address = "R5 an address is on a host while a router leads to it"
	Circles = "R6 no packets in circles between routers"
)

// All are the rules, in their order.
func All() []string { return []string{Serves, Announced, Last, Bootstrap, Address, Circles} }

// The rules of clusters whose hosts elect a holder by VRRP too.
const (
	Front = "R7 no router prefers another node to the holder by VRRP, which knows that it is that"
	Ends  = "R8 the holder withdraws last when all hosts end announcing"
)

// Elected are the additional rules of such clusters, in their order.
func Elected() []string { return []string{Front, Ends} }

// Begin makes room for what the rules remember.
func Begin(w *world.World) {
	r := &w.Rules
	r.Cables = make([]time.Duration, len(w.Hosts))
	r.Front = make([]world.Since, len(w.Routers))
	for v := range r.Spared {
		r.Spared[v] = make([]time.Duration, len(w.Hosts))
		r.Fit[v] = make([]world.Since, len(w.Hosts))
		r.Bad[v] = make([]world.Since, len(w.Hosts))
		r.None[v] = make([]world.Since, len(w.Routers))
	}
}

// Judge judges what must hold at each instant.
func Judge(w *world.World) {
	for _, r := range w.Routers {
		if r.Keeps > 0 {
			keeps(w)
		}
	}
	for _, vip := range schedule.VIPs() {
		v := int(vip)
		for _, h := range w.Hosts {
			if w.Announces(h.Index, vip) {
				serves(w, h, v)
				w.Rules.Fit[v][h.Index].Set(w.Now, fit(w, h, v))
			}
		}
		announced(w, v)
		circles(w, v)
	}
	if w.Elected != "" {
		front(w, w.Slot())
	}
}

// leads reports whether the router of a link leads packets for a VIP to the host at its other end.
func leads(w *world.World, l *world.Link, v int) bool {
	r := w.Router(l.Boxes[1])
	if !r.On {
		return false
	}
	for _, port := range r.Tables[v].Next {
		if port == l.Port[1] {
			return true
		}
	}
	return false
}

// serves judges a host to which a router leads.
func serves(w *world.World, h *world.Host, v int) {
	led, arrives := false, true
	for _, i := range h.Ports {
		if l := w.Links[i]; leads(w, l, v) {
			led = true
			arrives = arrives && w.Carries(l)
			bare(w, h, l, v)
		}
	}
	bad := &w.Rules.Bad[v][h.Index]
	bad.Set(w.Now, led && !(arrives && (w.Serves(h, v) || unwatched(h, v))))
	if bad.Is && w.Now > max(w.Rules.Spared[v][h.Index], bad.At) && once(w, Serves, h.Index, v) {
		w.Break(Serves, "clients of the %s are led to %s since %v", schedule.VIP(v),
			w.Name(h.Index), world.Short(bad.At))
	}
}

// unwatched reports whether a host without a monitor is demoted behind all others: nothing
// checks what it serves, but a router that leads to it knows no other host.
func unwatched(h *world.Host, v int) bool {
	return !h.Watches && h.State[world.Address(schedule.VIP(v))].Phase == speak.Demoted
}

func once(w *world.World, rule string, box, v int) bool {
	return w.Rules.Once(rule + w.Name(box) + schedule.VIP(v).String())
}

// bare judges that a host to which the router of a link leads has the VIP's address.
func bare(w *world.World, h *world.Host, l *world.Link, v int) {
	if h.On && w.Carries(l) && !h.Held[v] && w.Now > w.Rules.Cables[h.Index] &&
		w.Router(l.Boxes[1]).Keeps == 0 && once(w, Address, h.Index, v) {
		w.Break(Address, "%s leads to %s, which has no address for the %s",
			w.Name(l.Boxes[1]), w.Name(h.Index), schedule.VIP(v))
	}
}

// fit reports whether a host could announce a VIP: it would serve if it had the address, all its
// programs run, and a router has a session with it.
func fit(w *world.World, h *world.Host, v int) bool {
	if !h.On || !h.Speaks || !h.Watches || h.Leaving || h.Yields || !h.Zebra.Runs ||
		!h.BFD.Works() || !h.BGP.Works() || !h.Wish[v] || h.Route[v].Ends {
		return false
	}
	address := h.Held[v]
	h.Held[v] = true
	serves := w.Serves(h, v)
	if h.Held[v] = address; !serves {
		return false
	}
	for _, i := range h.Ports {
		if l := w.Links[i]; w.Carries(l) && l.Ends[0].Up && l.Ends[1].Up {
			return true
		}
	}
	return false
}

// announced judges that clients find the way to a host that could announce: from the routers that
// have a session with it, and from some router behind which clients are. A router in between may
// have none: its neighbours prefer a better host, to which it is on the way itself.
func announced(w *world.World, v int) {
	late := rises(w, v)
	for i, r := range w.Routers {
		w.Rules.None[v][i].Set(w.Now, r.On && len(r.Tables[v].Next) == 0)
	}
	if w.Now-w.Rules.Idle < late {
		return
	}
	for _, h := range w.Hosts {
		if fit := w.Rules.Fit[v][h.Index]; fit.For(w.Now, late) && lost(w, h, v, late) &&
			once(w, Announced, h.Index, v) {
			w.Break(Announced, "%s could announce the %s since %v, and clients have no way to it",
				w.Name(h.Index), schedule.VIP(v), world.Short(fit.At))
		}
	}
}

// lost reports whether a router of a host, or all those at the top that its path gets to, have no
// way to a VIP for so long.
func lost(w *world.World, h *world.Host, v int, late time.Duration) bool {
	none := func(box int) bool { return w.Rules.None[v][box-len(w.Hosts)].For(w.Now, late) }
	for _, i := range h.Ports {
		if l := w.Links[i]; l.Ends[0].Up && l.Ends[1].Up && none(l.Boxes[1]) {
			return true
		}
	}
	reached := 0
	for _, top := range w.Tops {
		if passes(w, h.Index, w.Router(top), 0) {
			if reached++; !none(top) {
				return false
			}
		}
	}
	return reached > 0
}

// passes reports whether a path of a host gets to router r. A router refuses a path with its own
// number, so none comes down and goes up again. used are the numbers of the routers after r.
func passes(w *world.World, host int, r *world.Router, used uint64) bool {
	number := w.Boxes[r.Box].Number
	if !r.On || used&number != 0 {
		return false
	}
	for _, i := range r.Ports {
		l := w.Links[i]
		other := l.Boxes[0]
		if other == r.Box {
			other = l.Boxes[1]
		}
		if !w.Carries(l) || !l.Ends[0].Up || !l.Ends[1].Up {
			continue
		}
		next := w.Router(other)
		if other == host || next != nil && passes(w, host, next, used|number) {
			return true
		}
	}
	return false
}

// Phase judges a change of a host's phase.
func Phase(w *world.World, h *world.Host, v schedule.VIP, was, is speak.Phase) {
	if w.Now >= 0 {
		w.Note(w.Name(h.Index), v.String()+" "+string(is))
	}
	announced, stays := others(w, h, int(v))
	if is == speak.Withdrawn && was == speak.Announced && h.Ends && h.OnLink {
		last(w, h, int(v))
	}
	switch {
	case is == speak.Withdrawn && (was != speak.Demoted || !stays || !h.Wish[v]),
		is == speak.Waiting && was == speak.Announced: // its daemon may have announced it anew
		Lost(w)
	case is == speak.Demoted && !stays:
		spare(&w.Rules.Unrest, w.Now+leaves(w)+follows(w))
	}
	if is != speak.Withdrawn || was != speak.Demoted || !h.Wish[v] || announced {
		return
	}
	for _, o := range w.Hosts {
		fit := w.Rules.Fit[v][o.Index]
		if o != h && fit.For(w.Now, rises(w, int(v))) && w.Reaches(o.Index, h.Index) &&
			w.Now-w.Rules.Idle > rises(w, int(v)) {
			w.Break(Last, "%s withdraws the %s, and %s could announce it since %v",
				w.Name(h.Index), v, w.Name(o.Index), world.Short(fit.At))
			return
		}
	}
}

// others reports whether a router has the path of another host, and whether one of those hosts is
// not about to leave.
func others(w *world.World, h *world.Host, v int) (announced, stays bool) {
	for _, o := range w.Hosts {
		if o != h && known(w, o, v) && w.Reaches(o.Index, h.Index) {
			announced = true
			stays = stays || !o.Leaving && !o.Yields && o.Watches && o.Sent[v].Any()
		}
	}
	return announced, stays
}

// known reports whether a router has received the path of a host from the host itself.
func known(w *world.World, h *world.Host, v int) bool {
	for _, i := range h.Ports {
		l := w.Links[i]
		if r := w.Router(l.Boxes[1]); r.On && r.Tables[v].In[l.Port[1]].Any() {
			return true
		}
	}
	return false
}

// uneven reports whether a node's path is longer than its grade, as it leaves too, or by one
// number, as only its own API server serves there. Then routers do not move away from a host
// level by level: its path becomes longer by two numbers at a time, and may become as long as
// the other one's at two levels at once.
func uneven(w *world.World, leaving *world.Host, v int) bool {
	for _, h := range w.Hosts[1:] {
		p := h.Sent[v]
		if p.Any() && h != leaving && (int(p.Grade) != h.Grade(v) ||
			w.IsMaster(h.Index) && !h.Checks[0].Passes) {
			return true
		}
	}
	return w.IsMaster(leaving.Index) && !leaving.Checks[0].Passes
}

// Announces judges that a host begins to announce.
func Announces(w *world.World, h *world.Host, v schedule.VIP) {
	if v == schedule.API && h.Index > 0 && !h.Seen && h.Watches && w.Elected != vrrp.DNS {
		w.Break(Bootstrap, "%s announces the %s before it has observed the API", w.Name(h.Index), v)
	}
}

// Chosen judges the choice of a router.
func Chosen(w *world.World, r *world.Router) {
	t := r.Tables[schedule.API]
	if t.Ignores {
		return
	}
	for _, p := range t.In {
		if !p.Any() || p.Host() != 0 || int(p.Grade) != int(w.Policy(0).OfBootstrap(false)) {
			continue
		}
		for _, port := range t.Next {
			if other := t.In[port]; other.Host() != 0 && once(w, Bootstrap, r.Box, 0) {
				w.Break(Bootstrap, "%s leads to %s, and the bootstrap machine announces a path",
					w.Name(r.Box), w.Name(other.Host()))
			}
		}
	}
}
