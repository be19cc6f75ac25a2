// Package instances follows the VRRP instances as keepalived reports them, and gives them their
// holder bonuses.
package instances

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"path/filepath"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bonus"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/pace"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/protocol"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// Instances are those that keepalived has reported on, by name.
type Instances struct {
	runDir string
	log    *slog.Logger
	tasks  *pace.Tasks

	order    protocol.Order // of the running configuration
	states   map[string]supervised.Instance
	bonuses  map[string]bonus.State // since keepalived's VRRP process was started
	unserved map[string]bool        // those that the monitor names
}

// New knows of no instance yet.
func New(runDir string, log *slog.Logger, tasks *pace.Tasks) *Instances {
	return &Instances{
		runDir: runDir, log: log, tasks: tasks,
		states: map[string]supervised.Instance{}, bonuses: map[string]bonus.State{},
	}
}

// SetOrder takes the order of the running configuration.
func (i *Instances) SetOrder(o protocol.Order) { i.order = o }

// States are the instances as keepalived last reported them.
func (i *Instances) States() map[string]supervised.Instance { return i.states }

// Change is what a report changed about the VIP of an instance.
type Change int

// The changes.
const (
	Unchanged Change = iota
	Taken
	Released
)

// Report takes one report of keepalived's. The VIP is that of the instance; invalid if no
// configuration has had it.
func (i *Instances) Report(e Event) (Change, netip.Addr) {
	was, known := i.states[e.Instance]
	switch {
	case e.State != "":
	case known:
		e.State = was.State
	default:
		e.State = supervised.Init
	}
	now := supervised.Instance{State: e.State, Priority: e.Priority}
	vip := i.order.VIPs[e.Instance]
	if was == now {
		return Unchanged, vip
	}
	i.logChange(e.Instance, was, now)
	i.states[e.Instance] = now
	i.setState(e.Instance, now.State)
	switch holds, held := now.State == supervised.Master, was.State == supervised.Master; {
	case holds && !held:
		return Taken, vip
	case held && !holds:
		return Released, vip
	}
	return Unchanged, vip
}

// logChange logs a new state, or another priority in the same state. The start of an instance is
// logged with the first state that it comes to.
func (i *Instances) logChange(instance string, was, now supervised.Instance) {
	switch {
	case now.State == was.State:
		i.log.Info("VRRP priority", "instance", instance, "state", now.State, "was", was.Priority,
			"priority", now.Priority)
	case was.State != "" || now.State != supervised.Init:
		i.log.Info("VRRP state", "instance", instance, "state", now.State, "was",
			cmp.Or(was.State, supervised.Init), "priority", now.Priority)
	}
}

// Forget resets all reports: a keepalived that does not run holds no state, and its VIPs are gone.
// It returns the VIPs that were held.
func (i *Instances) Forget() (held []netip.Addr) {
	held = i.Held()
	for name, was := range i.states {
		i.states[name] = supervised.Instance{State: supervised.Init, Priority: was.Priority}
		i.setState(name, supervised.Init)
	}
	return held
}

// setState takes an instance's state. A bonus that cannot be written is written in the next round.
func (i *Instances) setState(instance string, state supervised.State) {
	now := time.Now()
	i.bonuses[instance] = i.bonuses[instance].Next(state, now)
	i.NoteBonuses(now)
}

// Holding is the number of instances that hold their VIP.
func (i *Instances) Holding() (n int) {
	for _, is := range i.states {
		if is.State == supervised.Master {
			n++
		}
	}
	return n
}

// Held are the VIPs that keepalived holds.
func (i *Instances) Held() (vips []netip.Addr) {
	for name, is := range i.states {
		if vip, ok := i.order.VIPs[name]; ok && is.State == supervised.Master {
			vips = append(vips, vip)
		}
	}
	return vips
}

// Active reports whether some instance must be sending or receiving adverts.
func (i *Instances) Active() bool {
	for _, is := range i.states {
		if is.State == supervised.Master || is.State == supervised.Backup {
			return true
		}
	}
	return false
}

// NoteBonuses writes the bonus that each instance has now, as a task that is repeated.
func (i *Instances) NoteBonuses(now time.Time) {
	var failed error
	for name := range i.order.Bonus {
		path := filepath.Join(i.runDir, supervised.HolderTrack(name))
		number := i.bonuses[name].Number(i.order.Patience, now)
		_, err := file.Update(path, fmt.Appendln(nil, number), 0o644)
		failed = errors.Join(failed, err)
	}
	i.tasks.Note("write the holder bonuses", failed)
}

// SettlesAt is when the next instance that began is no longer below its rank; zero for never.
func (i *Instances) SettlesAt(now time.Time) (next time.Time) {
	for name := range i.order.Bonus {
		end := i.bonuses[name].Settles(i.order.Patience)
		if end.After(now) && (next.IsZero() || end.Before(next)) {
			next = end
		}
	}
	return next
}

// ReleaseUnserved releases VIPs that are held and not served here. Another host may serve no
// better, and there may be none: so it is done once each time that the monitor begins to name an
// instance, and a VIP that comes back here stays, as some host must hold it.
func (i *Instances) ReleaseUnserved() error {
	unserved, err := protocol.Unserved(i.runDir)
	if err != nil {
		return err
	}
	for name := range unserved {
		state := i.bonuses[name]
		if i.unserved[name] || !i.order.Bonus[name] || !state.IsHolder() {
			continue
		}
		i.log.Warn("release the VIP", "instance", name, "why", "its VIP is not served here")
		i.bonuses[name] = state.Release()
	}
	i.unserved = unserved
	return nil
}
