package speak

import (
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
)

// next is the state of a VIP after this round.
func (d *decision) next(vip netip.Addr, v VIP, l leave) VIP {
	leaving := l != stays
	route, serves := d.Wish.VIPs[vip]
	v.Lost = slices.DeleteFunc(slices.Clone(v.Lost), func(t time.Time) bool {
		return d.Now.Sub(t) > memory
	})
	switch v.Phase {
	case Idle, Waiting:
		switch {
		case !serves || leaving || route.Ends:
			v.Phase, v.Able = Idle, time.Time{}
		case !d.Ready, d.Wish.Died:
			v.Phase, v.Able = Waiting, time.Time{}
		case d.risen(vip, v) && d.preceded(vip, &v):
			v.Phase, v.Begun, v.Able = Announced, time.Time{}, time.Time{}
			v.Grade, v.Longer = route.Grade, time.Time{}
		default:
			v.Phase = Waiting
		}
	case Announced:
		v = d.stay(vip, v, leaving)
	case Demoted:
		switch {
		case !serves:
			v.Phase = Withdrawn
		case !leaving && !d.Wish.Died: // the monitor is back
			v.Phase, v.Longer, v.Begun = Announced, v.Begun, time.Time{}
			v = d.lengthen(v, route.Grade)
		default:
			v = d.demote(vip, v, l)
		}
	case Withdrawn:
		switch {
		case d.Advertised[vip] || d.Unsure && v.Clear.IsZero():
			v.Clear = time.Time{}
			if d.after(v.Since, Obedience) {
				d.Disobeyed = append(d.Disobeyed, vip)
			}
		case v.Clear.IsZero():
			v.Clear = d.Now
			d.due(d.Now.Add(Linger))
		case d.after(v.Clear, Linger):
			v.Phase, v.Clear = Idle, time.Time{}
			if serves && !leaving && !route.Ends {
				d.due(d.Now.Add(time.Millisecond)) // it may begin again
			}
		}
	}
	return v
}

// stay is next for a VIP that is announced.
func (d *decision) stay(vip netip.Addr, v VIP, leaving bool) VIP {
	route, serves := d.Wish.VIPs[vip]
	switch {
	case !serves:
		v.Phase, v.Lost = Withdrawn, append(v.Lost, d.Now)
	case leaving, d.Wish.Died:
		v.Phase, v.Begun, v.Other = Demoted, d.Now, time.Time{}
		if d.after(v.Longer, Settle) {
			v.Grade = route.next(v.Grade)
		} else {
			v.Begun = v.Longer
		}
		v.Longer = time.Time{}
	case !d.Ready && !d.Advertised[vip] && !d.Unsure:
		// No router has its route. It would come with the first session, go once when BFD comes
		// up, and come again: routers spread connections anew each time.
		v.Phase = Waiting
	case route.Ends && v.Begun.IsZero():
		v.Begun = d.Now
		d.due(d.Now.Add(Yield))
	case route.Ends && d.after(v.Begun, Yield):
		v.Phase = Withdrawn
	case !route.Ends:
		v.Begun = time.Time{}
	}
	if v.Phase == Announced {
		v = d.lengthen(v, route.Grade)
	}
	return v
}

// lengthen makes a path longer by one number at a time, for the same reason as
// bgp.Policy.Demotions: routers that follow a larger step in any order may send packets back to
// each other. A shorter path takes effect at once.
func (d *decision) lengthen(v VIP, to bgp.Grade) VIP {
	switch {
	case to < v.Grade:
		v.Grade, v.Longer = to, time.Time{}
	case to > v.Grade && d.after(v.Longer, Settle):
		if v.Grade, v.Longer = v.Grade+1, d.Now; v.Grade < to {
			d.due(d.Now.Add(Settle))
		}
	}
	return v
}

// demote takes the next step when routers have followed the last one. After the final step the
// host withdraws: once a router has another way or, if it leaves in order, after Patience.
func (d *decision) demote(vip netip.Addr, v VIP, l leave) VIP {
	if next := d.Wish.VIPs[vip].next(v.Grade); next > v.Grade {
		if d.after(v.Begun, Settle) {
			v.Grade, v.Begun = next, d.Now
			d.due(d.Now.Add(Settle))
		}
		return v
	}
	switch {
	case !d.Others[vip]:
		v.Other = time.Time{}
	case v.Other.IsZero():
		v.Other = d.Now
	}
	if l != stays && !v.Other.IsZero() && d.after(v.Other, Settle) ||
		l == leaves && d.after(v.Begun, Patience) {
		v.Phase = Withdrawn
	}
	return v
}

// risen reports whether a VIP has been withdrawn for long enough: a host that flaps moves
// connections of others each time, and routers that damp flaps suppress its route for minutes
// (RFC 2439). If no router has another way, the wait is short.
func (d *decision) risen(vip netip.Addr, v VIP) bool {
	if len(v.Lost) == 0 {
		return true
	}
	wait, most := time.Second<<min(len(v.Lost)-1, 10), latest
	if !d.Others[vip] {
		most = alone
	}
	return d.after(v.Lost[len(v.Lost)-1], min(wait, most))
}

// preceded reports whether the preferred host has announced a VIP, or has had its time for it.
func (d *decision) preceded(vip netip.Addr, v *VIP) bool {
	if !d.Wish.VIPs[vip].Behind || d.Others[vip] {
		return true
	}
	if v.Able.IsZero() {
		v.Able = d.Now
	}
	return d.after(v.Able, Precedence)
}

// apply adds a VIP's state to the decision. A demoted VIP sets Soon only if the host leaves:
// others may stay demoted for long, and each of their steps is due at a known time.
func (d *decision) apply(vip netip.Addr, was Phase, v VIP, l leave) {
	d.Soon = d.Soon || v.Phase != was || v.Phase == Demoted && l == leaves ||
		v.Phase == Withdrawn && v.Clear.IsZero()
	if v.Phase != Idle {
		d.Left = false
	}
	if v.Phase == Announced || v.Phase == Demoted {
		d.Announced[vip] = v.Grade
	}
	if v.Phase != Idle {
		d.Addresses = append(d.Addresses, vip)
	}
}
