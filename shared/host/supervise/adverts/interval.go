package adverts

import (
	"context"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/capture"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Slower wakes the loop when adverts with longer intervals than the host's own wait.
func (a *Adverts) Slower() <-chan struct{} { return a.slower.wake }

// Know takes the instances as keepalived reports them; nil while it reports nothing. Adverts of
// lower priorities, which keepalived refuses, are not kept, however many arrive.
func (a *Adverts) Know(instances map[string]supervised.Instance) { a.slower.know(instances) }

// Receive takes the adverts with longer intervals that wait. The instances are as keepalived
// reports them: nil while it reports nothing, and then begins with its own interval.
func (a *Adverts) Receive(instances map[string]supervised.Instance, now time.Time) {
	for at, d := range a.slower.take() {
		e, ok := a.elections[at.instance]
		if ok && instances != nil && e.adopts(d, instances[at.instance].Priority) {
			a.adoptions[at.instance] = a.adoptions[at.instance].adopted(d, now)
		}
	}
}

// UndoAt is when the next adoption is undone; zero for never, as while keepalived reports nothing.
func (a *Adverts) UndoAt(instances map[string]supervised.Instance) (next time.Time) {
	if instances == nil {
		return time.Time{}
	}
	for name, d := range a.adoptions {
		at := d.due(instances[name].State)
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	if !next.IsZero() && next.Before(a.undoing.after) {
		return a.undoing.after
	}
	return next
}

// Undo reports whether keepalived must reload, as one of its instances still waits by an interval
// that it has adopted. failing is for the status, also without a reload.
func (a *Adverts) Undo(now time.Time,
	instances map[string]supervised.Instance) (reload bool, failing error) {
	if next := a.UndoAt(instances); next.IsZero() || now.Before(next) {
		return false, a.undoing.failing(now)
	}
	var cause adoption
	for name, d := range a.adoptions {
		state := instances[name].State
		if now.Before(d.due(state)) {
			continue
		}
		delete(a.adoptions, name)
		if state != supervised.Backup {
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
// one. The kernel compares them with the shortest interval and the IDs of all instances, so that
// neither the cluster's own adverts nor those of others wake this process.
func (a *Adverts) followSlower() {
	a.slower.follow(a.elections)
	over, ids := time.Duration(0), []vrrp.ID{}
	for _, e := range a.elections {
		if ids = append(ids, e.id); over == 0 || e.advert < over {
			over = e.advert
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if over == a.slowerThan && slices.Equal(ids, a.slowerIDs) {
		return
	}
	if a.unfollow != nil {
		a.unfollow()
		a.unfollow = nil
	}
	if a.slowerThan, a.slowerIDs = over, ids; over == 0 {
		return
	}
	slower := func(ctx context.Context) error {
		return capture.Slower(ctx, over, ids, a.slower.put)
	}
	a.unfollow = a.tasks.Keep("receive adverts with longer intervals", slower)
}
