package adverts

import (
	"context"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/capture"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// Slower are adverts with longer intervals than the host's own.
func (a *Adverts) Slower() <-chan capture.Delivered { return a.slower }

// Receive takes an advert with a longer interval. The instances are as keepalived reports them: nil
// while it reports nothing, and then begins with its own interval.
func (a *Adverts) Receive(d capture.Delivered, instances map[string]supervised.Instance,
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
		isBackup := instances[name].State == supervised.Backup
		if now.Before(d.undoAt) || !isBackup && now.Before(d.until) {
			continue
		}
		delete(a.adoptions, name)
		if !isBackup {
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
		return capture.Slower(ctx, over, func(d capture.Delivered) {
			select {
			case a.slower <- d:
			default: // enough of them wait
			}
		})
	}
	a.unfollow = a.tasks.Keep("receive adverts with longer intervals", slower)
}
