package supervise

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/advert"
	"github.com/onprem-infra/onprem-infra/shared/host/overhear"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// In version 3 a router that becomes or is BACKUP adopts the interval of the advert that it
// received (RFC 5798 6.4.2), up to 40.95 s, and takes over no sooner than three of them later.
// Adverts carry no proof of their sender: one of them, with a peer's address and that interval,
// would keep every router silent for two minutes. A reload has keepalived begin anew with its own
// interval; a holder stays one.
//
// A holder whose interval is that of another profile, as one that has missed a migration, confirms
// it by the next advert. So an interval that no profile has is undone at once, any other longer one
// when the next advert is overdue.
const (
	adopting   = 100 * time.Millisecond // in which keepalived has read the advert too
	undoPause  = time.Second            // between two reloads, at the least
	mostSlower = 16                     // adverts that wait for the loop
)

// slowest is the longest interval of all profiles.
var slowest = func() (longest time.Duration) {
	for _, t := range vrrp.Profiles() {
		longest = max(longest, t.Advert)
	}
	return longest
}()

// election is what tells an instance's adverts from others.
type election struct {
	id     vrrp.ID
	four   bool
	advert time.Duration // its own interval
	peers  []netip.Addr  // whose adverts are accepted; nil: everybody's

	// keepalived binds the socket of an instance to its link in multicast, and to its address in
	// unicast: of both the other one is not set here.
	link   string
	source netip.Addr
}

func electionOf(i keepalived.Instance) election {
	e := election{id: i.ID, four: i.VIP.Is4(), advert: i.Advert, source: i.Source.WithZone("")}
	if !i.Source.IsValid() {
		e.link = string(i.Interface)
	} else if i.Known {
		e.peers = append([]netip.Addr{}, unicastPeers(i)...)
	}
	return e
}

// adopts says whether a router of a priority adopts the interval of an advert, which is longer than
// its own.
func (e election) adopts(a overhear.Delivered, priority int) bool {
	return (e.link == "" || a.Link == e.link) && (!e.source.IsValid() || a.To == e.source) && a.ID == e.id && a.From.Is4() == e.four && a.Interval > e.advert &&
		a.Priority != advert.Farewell && int(a.Priority) >= priority &&
		(e.peers == nil || slices.Contains(e.peers, a.From))
}

// adoption is a longer interval that an instance may have adopted.
type adoption struct {
	from     netip.Addr
	link     string
	interval time.Duration
	undoAt   time.Time
}

// undoing brakes reloads. Each has keepalived begin to wait anew: one a second would keep it from
// taking over for as long as somebody sends such adverts.
type undoing struct {
	last  time.Time
	after time.Time // when the next one may be
	pace  backoff
	again error // more than one within a minute, since a minute in which there was none
}

// did is the state after a reload.
func (u undoing) did(now time.Time, d adoption) undoing {
	if !u.last.IsZero() && now.Sub(u.last) < steady {
		u.again = fmt.Errorf("router %s on link %s sends the ID of one of our VRRP routers with an interval of %s, again and again: "+
			"find it, and give it another ID or the cluster's interval", d.from, d.link, d.interval)
	}
	u.after = now.Add(max(undoPause, u.pace.next(now.Sub(u.last))))
	u.last = now
	return u
}

// trouble is what there is to report.
func (u *undoing) trouble(now time.Time) error {
	if now.Sub(u.last) >= steady {
		u.again = nil
	}
	return u.again
}

// adopted is the adoption after an advert. An advert whose interval no profile has can neither be
// confirmed nor covered up by another one.
func (d adoption) adopted(a overhear.Delivered, now time.Time) adoption {
	if d.interval > slowest {
		return d
	}
	d = adoption{from: a.From, link: a.Link, interval: a.Interval, undoAt: now.Add(a.Interval + vrrp.Grace)}
	if a.Interval > slowest {
		d.undoAt = now.Add(adopting)
	}
	return d
}

// receive takes note of an advert with a longer interval.
func (s *supervisor) receive(a overhear.Delivered, now time.Time) {
	if s.daemon == nil || !s.daemon.spoke {
		return // what starts next begins with its own interval
	}
	for name, e := range s.order.elections {
		if e.adopts(a, s.status.Instances[name].Priority) {
			s.adoptions[name] = s.adoptions[name].adopted(a, now)
		}
	}
}

// undoes is when the next adoption is undone; zero for never.
func (s *supervisor) undoes() (next time.Time) {
	if s.daemon == nil || !s.daemon.spoke {
		return time.Time{} // there is no keepalived that waits
	}
	for _, d := range s.adoptions {
		if next.IsZero() || d.undoAt.Before(next) {
			next = d.undoAt
		}
	}
	if !next.IsZero() && next.Before(s.undoing.after) {
		return s.undoing.after
	}
	return next
}

// undo reloads keepalived if one of its instances still waits by an interval that it has adopted.
func (s *supervisor) undo(now time.Time) error {
	if next := s.undoes(); next.IsZero() || now.Before(next) {
		return s.undoing.trouble(now)
	}
	var cause adoption
	for name, d := range s.adoptions {
		if now.Before(d.undoAt) {
			continue
		}
		delete(s.adoptions, name)
		if s.status.Instances[name].State != supervised.Backup {
			continue // a holder sends by its own interval
		}
		cause = d
		s.Log.Warn("undo an adopted advert interval", "instance", name, "from", d.from, "link", d.link,
			"interval", d.interval, "own", s.order.elections[name].advert)
	}
	if cause.undoAt.IsZero() {
		return s.undoing.trouble(now)
	}
	s.undoing = s.undoing.did(now, cause)
	s.Log.Info("reload keepalived", "why", "an adopted advert interval", "not_again_before", s.undoing.after.Sub(now))
	return errors.Join(s.undoing.trouble(now), s.children.signal(s.daemon.child, unix.SIGHUP))
}

// followSlower receives adverts with longer intervals while there is an instance that could adopt
// one. The kernel compares them with the shortest interval of all instances, so that the cluster's
// own adverts do not wake this process.
func (s *supervisor) followSlower() {
	over := time.Duration(0)
	for _, e := range s.order.elections {
		if over == 0 || e.advert < over {
			over = e.advert
		}
	}
	if over == s.slowerThan {
		return
	}
	if s.unfollow != nil {
		s.unfollow()
		s.unfollow = nil
	}
	if s.slowerThan = over; over == 0 {
		return
	}
	ctx, stop := context.WithCancel(s.servants.ctx)
	s.unfollow = stop
	s.keep(ctx, "receive adverts with longer intervals", func(ctx context.Context) error {
		return overhear.Slower(ctx, over, func(a overhear.Delivered) {
			select {
			case s.slower <- a:
			default: // enough of them wait
			}
		})
	})
}
