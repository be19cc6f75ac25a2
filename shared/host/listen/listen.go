// Package listen receives the VRRP adverts on a host's links, and reports what disturbs its VRRP
// groups in the log, the journal and a state file.
package listen

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/host/capture"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// The pace of a listener. The advert of a foreign router starts a round at once, but no sooner than
// minPause after the last one.
const (
	everyRound   = time.Second
	minPause     = 100 * time.Millisecond
	everyState   = 2 * time.Second
	everyAnswers = 30 * time.Second
)

// Options are what a listener needs of its host.
type Options struct {
	IDs       map[vrrp.Kind]vrrp.ID // of the cluster
	StateFile string                // where the state is written for other programs
	Status    func() (supervised.Status, error)
	Log       *slog.Logger

	// Receive is capture.Adverts, and Neighbour is AskAgain, but in tests.
	Receive   func(ctx context.Context, link string, receive func(capture.Received)) error
	Neighbour func(link string, vip netip.Addr) (addr.Neighbour, error)
}

// Outputs take what a listener receives and finds. A nil function takes nothing.
type Outputs struct {
	Adverts  func(capture.Received) // every advert
	Findings func([]clash.Finding)  // the findings of every round
	Journal  func(journal.Entry)    // what changed
}

// Listener finds out which other routers are in this host's VRRP groups, and which of them disturb
// it. Its methods are safe for concurrent use.
type Listener struct {
	Options
	changed, foreign chan struct{} // wake-ups: other groups; a foreign router

	mu       sync.Mutex
	observer *clash.Observer
	wanted   []clash.Instance
	since    map[string]time.Time // by link
	failed   map[string]string    // why a link receives nothing, by link
	found    []clash.Finding      // that have been reported

	// Of Follow's goroutine.
	outputs Outputs
	links   map[string]context.CancelFunc
	reports reports
	wrote   time.Time
}

// New returns a listener that receives nothing until Follow.
func New(o Options) *Listener {
	l := &Listener{
		Options: o, changed: loop.NewWake(), foreign: loop.NewWake(), observer: clash.NewObserver(),
		since: map[string]time.Time{}, failed: map[string]string{},
		reports: reports{first: map[disturber]time.Time{}, made: map[disturber]clash.Finding{}},
	}
	l.observer.Have(o.IDs)
	return l
}

// Expect sets the instances to listen for. It may be called every round.
func (l *Listener) Expect(instances []clash.Instance) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if reflect.DeepEqual(instances, l.wanted) {
		return
	}
	l.wanted = instances
	l.observer.Expect(instances)
	loop.Wake(l.changed)
}

// Snapshot is what has been received until now.
func (l *Listener) Snapshot() clash.Snapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.observer.Snapshot(l.since, time.Now())
}

// State is what is known now. Its findings are those that have been reported.
func (l *Listener) State() clash.State {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.observer.State(l.since, maps.Clone(l.failed), time.Now())
	s.Findings = append([]clash.Finding{}, l.found...)
	return s
}

// Announced is the last other router that advertised each VIP, by the instance's name, and one that
// has just released it.
func (l *Listener) Announced() map[string]journal.Announced {
	out := map[string]journal.Announced{}
	routers := l.State().Routers
	slices.SortFunc(routers, func(a, b clash.Router) int { return a.Last.Compare(b.Last) })
	for _, s := range routers {
		out[string(s.Instance)] = journal.Announced{By: s.Address, Priority: int(s.Priority),
			At: s.Last}
	}
	for _, s := range routers {
		last := out[string(s.Instance)]
		if journal.Releases(int(s.Priority)) && s.Address != last.By &&
			last.At.Sub(s.Last) < time.Second {
			last.Released = s.Address
			out[string(s.Instance)] = last
		}
	}
	return out
}

// Follow listens until ctx ends. It logs what it cannot read or write, and goes on: it listens
// also on a host whose disks are full.
func (l *Listener) Follow(ctx context.Context, outputs Outputs) error {
	var logged loop.News
	ctx, cancel := context.WithCancel(ctx)
	var listening sync.WaitGroup
	defer listening.Wait()
	defer cancel()
	tick := time.NewTicker(everyRound)
	defer tick.Stop()
	asked := time.Time{}
	l.outputs, l.links = outputs, map[string]context.CancelFunc{}
	for {
		l.setLinks(ctx, &listening)
		if now := time.Now(); now.Sub(asked) >= everyAnswers {
			asked = now
			l.askNeighbours()
		}
		if err := l.reconcile(); err != nil && logged.Is(err.Error()) {
			l.Log.Warn("report other routers", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-l.changed:
		case <-tick.C:
		case <-l.foreign:
			select { // a flood on the link causes no more rounds than this
			case <-ctx.Done():
				return nil
			case <-time.After(minPause):
			}
		}
	}
}

func (l *Listener) reconcile() error {
	status, failed := l.Status()
	if failed != nil {
		failed = fmt.Errorf("read the supervisor's status: %w", failed)
	}
	l.mu.Lock()
	now := time.Now()
	maps.DeleteFunc(l.failed, func(name string, _ string) bool {
		at, listens := l.since[name] // a link that cannot be received from fails at once
		return listens && now.Sub(at) >= settled
	})
	if failed == nil { // else the last known state of this host counts
		for _, i := range l.wanted {
			own := status.Instances[string(i.Name)]
			l.observer.Self(i.Name, own.State == supervised.Master, vrrp.Priority(own.Priority),
				now)
		}
	}
	all := l.observer.Findings(now)
	l.mu.Unlock()
	changed := l.report(all, now)
	if !changed && now.Sub(l.wrote) < everyState {
		return failed
	}
	return errors.Join(failed, l.writeState(now))
}

func (l *Listener) writeState(now time.Time) error {
	if err := os.MkdirAll(filepath.Dir(l.StateFile), 0o755); err != nil {
		return fmt.Errorf("make a directory for the listener's state: %w", err)
	}
	if _, err := file.Update(l.StateFile, clash.EncodeState(l.State()), 0o644); err != nil {
		return err
	}
	l.wrote = now
	return nil
}
