package metrics

import (
	"net/netip"
	"time"
)

// span is how long the largest lateness is spoken of at the least, and twice that at most: longer
// than any usual time between two scrapes.
const span = time.Minute

// Adverts is what a host has heard of the holders of one VIP. The zero value has heard nothing. Its
// methods are for one goroutine.
type Adverts struct {
	known bool       // somebody held it
	by    netip.Addr // who; not valid: this host
	end   time.Time  // of what is known of that
	given bool       // it has given it up

	heard    time.Time        // another host's last advert
	every    time.Duration    // as it announces itself
	farewell bool             // it was one
	late     [2]time.Duration // at most, in this span and the one before
	begun    time.Time        // this span

	gaps     uint64
	all, gap time.Duration // of all of them, and the last one
}

// Hear takes another host's advert in. interval is that in which it announces itself; farewell says
// that it gives the VIP up.
func (a *Adverts) Hear(from netip.Addr, interval time.Duration, farewell bool, at time.Time) {
	if a.known && a.by == from && a.end.Equal(a.heard) && !a.farewell && !farewell {
		a.lateness(at, at.Sub(a.heard)-interval)
	}
	a.heard, a.farewell = at, farewell
	switch {
	case a.known && !a.by.IsValid() && a.end.IsZero(): // this host holds it, whoever else may think so too
	case farewell && (!a.known || a.by != from): // of somebody who was not known to hold it
	default:
		if !farewell {
			a.take(from, at)
		}
		a.end, a.every, a.given = at, interval, farewell
	}
}

// Self says whether this host holds the VIP.
func (a *Adverts) Self(holds bool, at time.Time) {
	self := a.known && !a.by.IsValid() && a.end.IsZero()
	switch {
	case holds && !self:
		a.take(netip.Addr{}, at)
		a.end, a.given = time.Time{}, false
	case !holds && self:
		a.end, a.given = at, true
	}
}

// take notes who holds it, and how long nobody was known to: since it was given up, or since its
// holder was overdue. One who is not, as when the VIP is taken from him or two hold it at a time,
// has left nobody waiting.
func (a *Adverts) take(by netip.Addr, at time.Time) {
	if a.known && (a.given || a.by != by && at.Sub(a.end) > 2*a.every) {
		a.gap = max(at.Sub(a.end), 0)
		a.gaps, a.all = a.gaps+1, a.all+a.gap
	}
	a.known, a.by = true, by
}

func (a *Adverts) lateness(at time.Time, late time.Duration) {
	a.turn(at)
	a.late[0] = max(a.late[0], late)
}

// turn begins the span of an instant.
func (a *Adverts) turn(at time.Time) {
	switch since := at.Sub(a.begun); {
	case since >= 2*span:
		a.late, a.begun = [2]time.Duration{}, at
	case since >= span:
		a.late, a.begun = [2]time.Duration{0, a.late[0]}, a.begun.Add(span)
	}
}

func (a Adverts) onto(p *Page, now time.Time, about []string) {
	if !a.heard.IsZero() && (!a.known || a.by.IsValid() || !a.end.IsZero()) {
		a.turn(now)
		p.Add(AdvertAge, max(now.Sub(a.heard), 0).Seconds(), about...)
		p.Add(AdvertJitter, max(a.late[0], a.late[1]).Seconds(), about...)
	}
	p.Add(VIPGaps, float64(a.gaps), about...)
	p.Add(VIPGapTotal, a.all.Seconds(), about...)
	if a.gaps > 0 {
		p.Add(VIPGapLast, a.gap.Seconds(), about...)
	}
}
