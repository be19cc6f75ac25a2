// Package speak decides what a host announces to its routers: when a VIP's address and its route
// come and go, and in which order, so that no router sends to a host what it does not serve, and a
// host that leaves loses no connection.
package speak

import (
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
)

// Wish is what a host's monitor wants of its speaker.
type Wish struct {
	Beat time.Time            // when the monitor was alive last, by the clock of Observed.Now
	VIPs map[netip.Addr]Route // that the host serves
	// Leaving asks for the end of all in order.
	Leaving bool
	// Died reports that the monitor has ended without order, and that no other one has wanted
	// anything since. What the host serves by now is not known: it is behind all others.
	Died bool
}

// Route is how a host announces a VIP.
type Route struct {
	Grade     bgp.Grade
	Demotions []bgp.Grade // the grades by which it leaves, see bgp.Policy
	// Behind reports that another host is to be in front of this one, which has to announce first.
	Behind bool
	// Ends reports that no host announces the VIP from now on, and this one serves it all the same.
	Ends bool
	// Leaves reports that this host is to leave the VIP in order, and serves it all the same.
	Leaves bool
}

// next is the grade by which a host that leaves makes its path longer than one with a grade, which
// may be better than the route's: the route has just become another one. It is that grade at the
// last step.
func (r Route) next(from bgp.Grade) bgp.Grade {
	if from < r.Grade {
		return from + 1
	}
	for _, g := range r.Demotions {
		if g > from {
			return g
		}
	}
	return from
}

// Observed is what a round has seen.
type Observed struct {
	Now  time.Time
	Wish Wish
	// Ready reports whether routes that are announced now would stay, by one session at least.
	Ready bool
	// Advertised are the VIPs that some router has from this host.
	Advertised map[netip.Addr]bool
	// Others are the VIPs to which a router knows another way than through this host.
	Others map[netip.Addr]bool
}

// Phase is where a VIP is on a host.
type Phase string

// The phases. A VIP that the host does not serve, and whose address is away, is Idle.
const (
	Idle      Phase = "idle"
	Waiting   Phase = "waiting" // for a session that stays, or for the time after a withdrawal
	Announced Phase = "announced"
	// Demoted is announced behind all others: before it is withdrawn, or without a monitor.
	Demoted   Phase = "demoted"
	Withdrawn Phase = "withdrawn" // its address goes when no router sends to it any more
)

// VIP is one VIP's state.
type VIP struct {
	Phase Phase
	Since time.Time
	Clear time.Time // since when no router has it any more; zero while one has
	Begun time.Time // when the last step of the demotions was made
	Other time.Time // since when a router has told of another way, at the last step
	// Grade is what the VIP is announced with, and Longer when its path became longer last; zero
	// since it is announced, or became shorter.
	Grade  bgp.Grade
	Longer time.Time
	Able   time.Time // since when it could be announced, and waits for the host in front
	// Lost are when the VIP was withdrawn in the last minutes because the host did not serve it.
	Lost []time.Time
}

// The times of a host. Routers pass on a withdrawal after 50 to 110 ms each.
const (
	// Silence is how long a monitor may be silent before its host leaves. One that ends in order is
	// replaced within that, but for the second time in ten minutes: kubelet waits for longer then.
	Silence = 10 * time.Second
	// Notice is within which time the end of a monitor that dies is noticed.
	Notice = 50 * time.Millisecond
	// Linger is how long an address outlives its route: packets are under way, and routers further
	// away have the route for some tenths of a second.
	Linger = time.Second
	// Patience is how long a host that leaves waits to be told of another way to a VIP, and Settle
	// how long it then goes on: a router tells of its new way before it uses it, and those behind
	// it follow. A host that withdrew at once lost some connections where it was its rack's last.
	Patience = 1500 * time.Millisecond
	Settle   = 400 * time.Millisecond
	// Obedience is within which time the daemon must have withdrawn what it is told to. It takes
	// 50 ms to begin, and shares its host's processor.
	Obedience = 600 * time.Millisecond
	// Precedence is how long a host lets the one in front of it announce first, and Yield how much
	// longer than others that one announces when all end that. Routers else send connections to
	// another host for that time, which break when it is over.
	Precedence = 5 * time.Second
	Yield      = 2 * time.Second
	// memory is how long a withdrawal counts for the time until the next announcement.
	memory = 5 * time.Minute
	// latest is the longest such time; the first one is a second, and each further withdrawal
	// doubles it.
	latest = 30 * time.Second
	// alone is the longest one while no router tells of another way: clients may have none.
	alone = 2 * time.Second
)

// The times of a session until what is announced in it stays.
const (
	// Steady is how long it has been up, with BFD: one that comes up before BFD falls once more
	// (FRR#17337).
	Steady = time.Second
	// unspoken is after which time a router whose session is up counts as one without BFD: where
	// both speak it, that is up some seconds after the session, and takes it down if it fails.
	unspoken = 15 * time.Second
)

// Ready reports whether routes that are announced in a session would stay. Lasts is how long it has
// been up, and bfd whether BFD is up, or not used.
func Ready(lasts time.Duration, bfd bool) bool {
	return lasts >= Steady && bfd || lasts >= unspoken
}

// Demote is within which time a host whose monitor has died is behind all others, by so many
// demotions.
func Demote(demotions int) time.Duration {
	return Notice + time.Duration(max(demotions-1, 0))*Settle
}

// Leave is how long a host takes at most to leave in order, by so many demotions.
func Leave(demotions int) time.Duration {
	return time.Duration(max(demotions-1, 0))*Settle + Patience + Obedience + Linger
}

// State is the memory of a speaker, by VIP.
type State map[netip.Addr]VIP

// Decision is what is to be so now.
type Decision struct {
	Announced map[netip.Addr]bgp.Grade
	Addresses []netip.Addr // on the host, sorted
	State     State
	// Disobeyed are VIPs that a router still has too long after the daemon was to withdraw them.
	// Only its end withdraws them then.
	Disobeyed []netip.Addr
	// Again is when something is due without a further event; the zero time for never.
	Again time.Time
	// Left reports that everything has ended in order.
	Left bool
	// Silent reports that the monitor has been silent for so long that the host leaves.
	Silent bool
}

// Decide makes the next state of every VIP of the cluster, and of those that still are announced
// but are the cluster's no longer: they leave.
func Decide(vips []netip.Addr, before State, o Observed) Decision {
	d := &decision{Observed: o, Decision: Decision{Announced: map[netip.Addr]bgp.Grade{},
		State: State{}, Left: true}}
	d.Silent = o.Now.Sub(o.Wish.Beat) > Silence
	d.leaving = o.Wish.Leaving || d.Silent
	if !d.Silent {
		d.due(o.Wish.Beat.Add(Silence + time.Millisecond))
	}
	all := slices.Clone(vips)
	for vip, was := range before {
		if was.Phase != Idle && !slices.Contains(all, vip) {
			all = append(all, vip)
		}
	}
	for _, vip := range all {
		was, known := before[vip]
		if !known {
			was = VIP{Phase: Idle, Since: o.Now}
		}
		is := d.next(vip, was, d.leaves(vip, slices.Contains(vips, vip)))
		if is.Phase != was.Phase {
			is.Since = o.Now
		}
		d.State[vip] = is
		d.apply(vip, is)
	}
	slices.SortFunc(d.Addresses, netip.Addr.Compare)
	d.Left = d.Left && d.leaving
	return d.Decision
}

// decision is a decision in the making.
type decision struct {
	Observed
	Decision
	leaving bool
}

// leave is whether a host leaves a VIP.
type leave int

const (
	stays leave = iota
	// unsure leaves it to others, as nobody knows what the host serves. Without others it stays:
	// what ends the monitors of all hosts, such as a description that was replaced twice, must not
	// take a VIP away that all of them serve.
	unsure
	leaves
)

// leaves is that of one VIP, which may be the cluster's no longer.
func (d *decision) leaves(vip netip.Addr, known bool) leave {
	switch {
	case d.Wish.Leaving || !known || d.Wish.VIPs[vip].Leaves:
		return leaves
	case d.Silent:
		return unsure
	}
	return stays
}

func (d *decision) due(at time.Time) {
	if at.After(d.Now) && (d.Again.IsZero() || at.Before(d.Again)) {
		d.Again = at
	}
}

// after reports whether something has lasted for so long, and has the speaker look again then.
func (d *decision) after(since time.Time, lasts time.Duration) bool {
	if d.Now.Sub(since) >= lasts {
		return true
	}
	d.due(since.Add(lasts))
	return false
}

// next is the phase that follows.
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
		case d.Advertised[vip]:
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

// stay is the phase that follows where a VIP is announced.
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
	case !d.Ready && !d.Advertised[vip]:
		// No router has it any more. With the first session it would come, go once when BFD
		// comes up, and come again: each time routers spread connections anew.
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

// lengthen makes a path longer by one number after the other, for the reason for which
// bgp.Policy.Demotions does so: routers that follow a longer step in any order may send packets
// back to each other. A shorter path counts at once.
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

// demote goes one step further when routers have followed the last one. After the last one a host
// that leaves withdraws.
func (d *decision) demote(vip netip.Addr, v VIP, l leave) VIP {
	if next := d.Wish.VIPs[vip].next(v.Grade); next > v.Grade {
		if d.after(v.Begun, Settle) {
			v.Grade, v.Begun = next, d.Now
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

// risen reports whether a VIP has been away long enough: a host that flaps moves connections of
// others each time, and routers that damp flaps mute it for minutes (RFC 2439). What serves alone
// is better than nothing.
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

// preceded reports whether the host in front of this one has announced a VIP, or has had its time.
func (d *decision) preceded(vip netip.Addr, v *VIP) bool {
	if !d.Wish.VIPs[vip].Behind || d.Others[vip] {
		return true
	}
	if v.Able.IsZero() {
		v.Able = d.Now
	}
	return d.after(v.Able, Precedence)
}

// apply is what a phase means.
func (d *decision) apply(vip netip.Addr, v VIP) {
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
