package adverts

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/advert"
	"github.com/onprem-infra/onprem-infra/shared/host/capture"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/pace"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// In version 3 a router that becomes or is BACKUP adopts the interval of the advert that it
// received (RFC 5798 6.4.2), up to 40.95 s, and takes over no sooner than three of them later.
// Adverts carry no proof of their sender: one advert, with a peer's address and that interval,
// would keep every router from taking over for two minutes. After a reload keepalived uses its
// own interval again; a holder remains the holder.
//
// A holder whose interval is that of another profile, as one that has missed a migration, confirms
// it by the next advert. So an interval that no profile has is undone at once, any other longer one
// when the next advert is overdue.
//
// A MASTER that receives the advert becomes BACKUP, and reports it, when keepalived runs again. The
// supervisor kills a keepalived that does nothing after eight beats. So the adoption of a MASTER is
// kept for longer than that, and not for ever: a MASTER with a better address refuses an advert of
// its own priority.
const (
	latest    = 10 * pace.Beat         // since the advert, for a MASTER to become BACKUP by it
	adopting  = 100 * time.Millisecond // in which keepalived has read the advert too
	undoPause = time.Second            // between two reloads, at the least
)

// slowest is the longest interval of all profiles.
var slowest = func() (longest time.Duration) {
	for _, t := range vrrp.Profiles() {
		longest = max(longest, t.Advert)
	}
	return longest
}()

// election is what distinguishes an instance's adverts from others.
type election struct {
	id     vrrp.ID
	four   bool
	advert time.Duration // its own interval
	peers  []netip.Addr  // whose adverts are accepted; nil: every router's

	// keepalived binds the socket of an instance to its link in multicast mode, and to its
	// address in unicast mode. Only the field of the instance's mode is set.
	link   string
	source netip.Addr
}

func electionsOf(instances []keepalived.Instance) map[string]election {
	all := map[string]election{}
	for _, i := range instances {
		if i.Version == vrrp.V3 {
			all[string(i.Name)] = electionOf(i)
		}
	}
	return all
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

// adopts reports whether a router of a priority adopts the interval of an advert, which is longer
// than its own.
func (e election) adopts(a capture.Delivered, priority int) bool {
	return (e.link == "" || a.Link == e.link) && (!e.source.IsValid() || a.To == e.source) &&
		a.ID == e.id && a.From.Is4() == e.four && a.Interval > e.advert &&
		a.Priority != advert.Release && int(a.Priority) >= priority &&
		(e.peers == nil || slices.Contains(e.peers, a.From))
}

// adoption is a longer interval that an instance may have adopted.
type adoption struct {
	from     netip.Addr
	link     string
	interval time.Duration
	undoAt   time.Time
	until    time.Time // a MASTER that is one still then has refused the advert
}

// due is when an adoption ends for an instance in a state: it is undone, or a MASTER has refused
// the advert.
func (d adoption) due(s supervised.State) time.Time {
	if s != supervised.Backup && d.undoAt.Before(d.until) {
		return d.until
	}
	return d.undoAt
}

// undoing limits reloads. Each has keepalived begin to wait anew: one a second would keep it from
// taking over for as long as a router sends such adverts.
type undoing struct {
	last   time.Time
	after  time.Time // when the next one may be
	pace   supervised.Backoff
	repeat error // of a second reload within a minute; nil after a minute without
}

func (u undoing) reloaded(now time.Time, d adoption) undoing {
	if !u.last.IsZero() && now.Sub(u.last) < supervised.Steady {
		u.repeat = fmt.Errorf("router %s on link %s sends the ID of one of our VRRP routers "+
			"with an interval of %s, again and again: "+
			"find it, and give it another ID or the cluster's interval", d.from, d.link, d.interval)
	}
	u.after = now.Add(max(undoPause, u.pace.Next(now.Sub(u.last))))
	u.last = now
	return u
}

func (u *undoing) failing(now time.Time) error {
	if now.Sub(u.last) >= supervised.Steady {
		u.repeat = nil
	}
	return u.repeat
}

// adopted is the adoption after a further advert. One of an interval that no profile has stays:
// no other advert confirms or replaces it.
func (d adoption) adopted(a capture.Delivered, now time.Time) adoption {
	if d.interval > slowest {
		d.until = now.Add(latest)
		return d
	}
	d = adoption{from: a.From, link: a.Link, interval: a.Interval,
		undoAt: now.Add(a.Interval + vrrp.Grace), until: now.Add(latest)}
	if a.Interval > slowest {
		d.undoAt = now.Add(adopting)
	}
	return d
}
