package timingproof

import (
	"fmt"
	"maps"
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Stream is the adverts of one router. The zero value has received none.
type Stream struct{ last time.Time }

// Late is how much later an advert arrived than an interval after the one before. ok is false for
// the first one, for a release, and for the one after it, which may come at any time.
func (s *Stream) Late(interval time.Duration, releases bool, at time.Time) (
	late time.Duration, ok bool,
) {
	before := s.last
	if s.last = at; releases {
		s.last = time.Time{}
	}
	if releases || before.IsZero() {
		return 0, false
	}
	return max(0, at.Sub(before)-interval), true
}

const (
	// often late adverts within the time below are no accident any more.
	often  = 5
	within = 10 * time.Minute
	// A router that was silent for so long was stopped, and not late.
	silence = time.Second
	// streams is how many routers are followed: all of a cluster, and no flood of forged ones.
	streams = 64
)

// Drift finds out whether hosts are later than a proof allows, by the adverts that arrive. It is
// for one goroutine.
type Drift struct {
	allowed time.Duration
	streams map[key]*Stream
	late    []event // the last ones, the oldest first
}

type key struct {
	from   netip.Addr
	router int
}

type event struct {
	at   time.Time
	from netip.Addr
	by   time.Duration
}

// NewDrift watches over a timing.
func NewDrift(t vrrp.Timing) *Drift {
	return &Drift{allowed: Allowed(t), streams: map[key]*Stream{}}
}

// Add takes an advert in, and reports whether it was later than is allowed.
func (d *Drift) Add(
	from netip.Addr, router int, interval time.Duration, releases bool, at time.Time,
) bool {
	k := key{from, router}
	s := d.streams[k]
	if s == nil {
		if !d.hasRoom(at) {
			return false
		}
		s = &Stream{}
		d.streams[k] = s
	}
	by, ok := s.Late(interval, releases, at)
	if !ok || by <= d.allowed || by >= silence {
		return false
	}
	// A host that stands still for a moment is late with all of its adverts: that is one event.
	if n := len(d.late); n > 0 && at.Sub(d.late[n-1].at) < silence {
		if last := &d.late[n-1]; by > last.by {
			last.from, last.by = from, by
		}
		return true
	}
	if d.late = append(d.late, event{at, from, by}); len(d.late) > often {
		d.late = d.late[1:]
	}
	return true
}

// hasRoom reports whether another router can be followed. Those that are silent are forgotten.
func (d *Drift) hasRoom(at time.Time) bool {
	if len(d.streams) < streams {
		return true
	}
	maps.DeleteFunc(d.streams, func(_ key, s *Stream) bool { return at.Sub(s.last) > silence })
	return len(d.streams) < streams
}

// Why is why the hosts do not keep to their proof any more; empty if they do.
func (d *Drift) Why(now time.Time) string {
	if len(d.late) < often || now.Sub(d.late[0].at) > within {
		return ""
	}
	worst := d.late[0]
	for _, e := range d.late {
		if e.by > worst.by {
			worst = e
		}
	}
	return fmt.Sprintf("%d times within %v adverts were more than %v late, one of %s by %v", often,
		within, d.allowed.Round(time.Millisecond), worst.from, worst.by.Round(time.Millisecond))
}
