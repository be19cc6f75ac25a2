package adverts

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/advert"
	"github.com/onprem-infra/onprem-infra/shared/host/overhear"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/pace"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// In version 3 a router that becomes or is BACKUP adopts the interval of the advert that it
// received (RFC 5798 6.4.2), up to 40.95 s, and takes over no sooner than three of them later.
// Adverts carry no proof of their sender: one of them, with a peer's address and that interval,
// would silence every router for two minutes. After a reload keepalived uses its own interval
// again; a holder remains the holder.
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
	peers  []netip.Addr  // whose adverts are accepted; nil: every router's

	// keepalived binds the socket of an instance to its link in multicast, and to its address in
	// unicast: of both the other one is not set here.
	link   string
	source netip.Addr
}

// electionsOf are those of version 3, by instance.
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
func (e election) adopts(a overhear.Delivered, priority int) bool {
	return (e.link == "" || a.Link == e.link) && (!e.source.IsValid() || a.To == e.source) &&
		a.ID == e.id && a.From.Is4() == e.four && a.Interval > e.advert &&
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

// undoing limits reloads. Each has keepalived begin to wait anew: one a second would keep it from
// taking over for as long as a router sends such adverts.
type undoing struct {
	last   time.Time
	after  time.Time // when the next one may be
	pace   pace.Backoff
	repeat error // more than one within a minute, since a minute in which there was none
}

// reloaded is the state after a reload.
func (u undoing) reloaded(now time.Time, d adoption) undoing {
	if !u.last.IsZero() && now.Sub(u.last) < pace.Steady {
		u.repeat = fmt.Errorf("router %s on link %s sends the ID of one of our VRRP routers "+
			"with an interval of %s, again and again: "+
			"find it, and give it another ID or the cluster's interval", d.from, d.link, d.interval)
	}
	u.after = now.Add(max(undoPause, u.pace.Next(now.Sub(u.last))))
	u.last = now
	return u
}

// failing is what there is to report.
func (u *undoing) failing(now time.Time) error {
	if now.Sub(u.last) >= pace.Steady {
		u.repeat = nil
	}
	return u.repeat
}

// adopted is the adoption after an advert. An advert whose interval no profile has can neither be
// confirmed nor covered up by another one.
func (d adoption) adopted(a overhear.Delivered, now time.Time) adoption {
	if d.interval > slowest {
		return d
	}
	d = adoption{from: a.From, link: a.Link, interval: a.Interval,
		undoAt: now.Add(a.Interval + vrrp.Grace)}
	if a.Interval > slowest {
		d.undoAt = now.Add(adopting)
	}
	return d
}

// Slower are adverts with longer intervals than the host's own.
func (a *Adverts) Slower() <-chan overhear.Delivered { return a.slower }

// Receive takes an advert with a longer interval. The instances are as keepalived reports them: nil
// while it reports nothing, and then begins with its own interval.
func (a *Adverts) Receive(d overhear.Delivered, instances map[string]supervised.Instance,
	now time.Time) {
	if instances == nil {
		return
	}
	for name, e := range a.elections {
		if e.adopts(d, instances[name].Priority) {
			a.adoptions[name] = a.adoptions[name].adopted(d, now)
		}
	}
}

// UndoAt is when the next adoption is undone; zero for never, as while keepalived reports nothing.
func (a *Adverts) UndoAt(instances map[string]supervised.Instance) (next time.Time) {
	if instances == nil {
		return time.Time{}
	}
	for _, d := range a.adoptions {
		if next.IsZero() || d.undoAt.Before(next) {
			next = d.undoAt
		}
	}
	if !next.IsZero() && next.Before(a.undoing.after) {
		return a.undoing.after
	}
	return next
}

// Undo reports whether keepalived must reload, as one of its instances still waits by an interval
// that it has adopted. An error is for the status, whether it must or not.
func (a *Adverts) Undo(now time.Time,
	instances map[string]supervised.Instance) (reload bool, failing error) {
	if next := a.UndoAt(instances); next.IsZero() || now.Before(next) {
		return false, a.undoing.failing(now)
	}
	var cause adoption
	for name, d := range a.adoptions {
		if now.Before(d.undoAt) {
			continue
		}
		delete(a.adoptions, name)
		if instances[name].State != supervised.Backup {
			continue // a holder sends by its own interval
		}
		cause = d
		a.log.Warn("undo an adopted advert interval", "instance", name, "from", d.from,
			"link", d.link, "interval", d.interval, "own", a.elections[name].advert)
	}
	if cause.undoAt.IsZero() {
		return false, a.undoing.failing(now)
	}
	a.undoing = a.undoing.reloaded(now, cause)
	a.log.Info("reload keepalived", "why", "an adopted advert interval", "not_again_before",
		a.undoing.after.Sub(now))
	return true, a.undoing.failing(now)
}

// followSlower receives adverts with longer intervals while there is an instance that could adopt
// one. The kernel compares them with the shortest interval of all instances, so that the cluster's
// own adverts do not wake this process.
func (a *Adverts) followSlower() {
	over := time.Duration(0)
	for _, e := range a.elections {
		if over == 0 || e.advert < over {
			over = e.advert
		}
	}
	if over == a.slowerThan {
		return
	}
	if a.unfollow != nil {
		a.unfollow()
		a.unfollow = nil
	}
	if a.slowerThan = over; over == 0 {
		return
	}
	slower := func(ctx context.Context) error {
		return overhear.Slower(ctx, over, func(d overhear.Delivered) {
			select {
			case a.slower <- d:
			default: // enough of them wait
			}
		})
	}
	a.unfollow = a.tasks.Keep("receive adverts with longer intervals", slower)
}
