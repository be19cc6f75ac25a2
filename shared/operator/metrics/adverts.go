package metrics

import (
	"net/netip"
	"time"
)

// span is the least time for which the largest lateness is reported; twice that is the most. It is
// longer than the usual time between two scrapes.
const span = time.Minute

// Adverts is what a host has received of the holders of one VIP. The zero value has received
// nothing. Its methods are for one goroutine.
type Adverts struct {
	known bool       // there was a holder
	by    netip.Addr // its address; not valid: this host
	end   time.Time  // when it was last known to hold the VIP
	given bool       // it has released the VIP
	// rival is whose advert was received last while this host holds the VIP; not valid: nobody's.
	rival netip.Addr

	last     time.Time        // when another host's advert was received
	every    time.Duration    // the interval in that advert
	released bool             // that advert released the VIP
	late     [2]time.Duration // largest delay in this span and in the one before
	begun    time.Time        // when this span began

	gaps     uint64
	all, gap time.Duration // the sum of all gaps, and the last one
}

// Receive takes in another host's advert. interval is the one in the advert; released means that it
// releases the VIP (priority 0).
func (a *Adverts) Receive(from netip.Addr, interval time.Duration, released bool, at time.Time) {
	if a.known && a.by == from && a.end.Equal(a.last) && !a.released && !released {
		a.rotate(at)
		a.late[0] = max(a.late[0], at.Sub(a.last)-interval)
	}
	a.last, a.released = at, released
	switch {
	case a.self(): // this host holds it, even if another one does too
		a.rival, a.every = from, interval
		if released {
			a.rival = netip.Addr{}
		}
	case released && (!a.known || a.by != from): // the sender was not known as the holder
	default:
		if !released {
			a.take(from, at)
		}
		a.end, a.every, a.given = at, interval, released
	}
}

// self reports whether this host is the holder.
func (a *Adverts) self() bool { return a.known && !a.by.IsValid() && a.end.IsZero() }

// Self notes whether this host holds the VIP. A host that preempts this one is the holder since its
// first advert, which comes before this host's keepalived gives way.
func (a *Adverts) Self(holds bool, at time.Time) {
	switch {
	case holds && !a.self():
		a.take(netip.Addr{}, at)
		a.end, a.given, a.rival = time.Time{}, false, netip.Addr{}
	case !holds && a.self() && a.rival.IsValid() && at.Sub(a.last) <= 2*a.every:
		a.by, a.end = a.rival, a.last
	case !holds && a.self():
		a.end, a.given = at, true
	}
}

// take notes the holder, and how long there was none: since the VIP was released, or since the
// former holder was overdue. A holder that is not overdue leaves no gap, as when another host
// preempts it or two hold the VIP at once.
func (a *Adverts) take(by netip.Addr, at time.Time) {
	if a.known && (a.given || a.by != by && at.Sub(a.end) > 2*a.every) {
		a.gap = max(at.Sub(a.end), 0)
		a.gaps, a.all = a.gaps+1, a.all+a.gap
	}
	a.known, a.by = true, by
}

// rotate begins a new span if the present one is over.
func (a *Adverts) rotate(at time.Time) {
	switch since := at.Sub(a.begun); {
	case since >= 2*span:
		a.late, a.begun = [2]time.Duration{}, at
	case since >= span:
		a.late, a.begun = [2]time.Duration{0, a.late[0]}, a.begun.Add(span)
	}
}

func (a Adverts) onto(p *Page, now time.Time, about []string) {
	if !a.last.IsZero() && !a.self() {
		a.rotate(now)
		p.Add(AdvertAge, max(now.Sub(a.last), 0).Seconds(), about...)
		p.Add(AdvertJitter, max(a.late[0], a.late[1]).Seconds(), about...)
	}
	p.Add(VIPGaps, float64(a.gaps), about...)
	p.Add(VIPGapTotal, a.all.Seconds(), about...)
	if a.gaps > 0 {
		p.Add(VIPGapLast, a.gap.Seconds(), about...)
	}
}
