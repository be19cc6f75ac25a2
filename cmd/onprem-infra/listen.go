//go:build remote

package main

import (
	"context"
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
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/overhear"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// The pace of a listener. A foreign router does not wait for it: its advert has the listener look
// at once, though no sooner than soonest after the last look.
const (
	everyLook    = time.Second
	soonestLook  = 100 * time.Millisecond
	everyState   = 2 * time.Second
	everyAnswers = 30 * time.Second
)

// listener hears who takes part in this host's elections beside the cluster, and who does so
// otherwise than agreed. It says what it finds in the log, the journal and a file for others to
// read. Its methods may be called by several goroutines.
type listener struct {
	host nodeVIPHost
	hear func(ctx context.Context, link string, hear func(overhear.Heard)) error // as overhear.Adverts
	ask  func(link string, vip netip.Addr) (addr.Neighbour, error)               // what is known of who answers; it has the kernel ask again
	now  func() time.Time
	log  *slog.Logger

	anew, alarm chan struct{} // other elections; a foreign router

	mu     sync.Mutex
	ear    *clash.Ear
	wanted []clash.Instance
	since  map[string]time.Time // by link
	deaf   map[string]string    // by link
	found  []clash.Finding      // that are said

	// run's alone.
	links map[string]context.CancelFunc
	first map[disturber]time.Time // when what is not said yet was seen for the first time
	said  map[disturber]clash.Finding
	wrote time.Time
	says  sayings

	journal func(journal.Entry)   // takes what is said; nil for nobody
	adverts func(overhear.Heard)  // takes every advert; nil for nobody
	tells   func([]clash.Finding) // takes what is found, at every look; nil for nobody
}

func newListener(p plan.Plan, host nodeVIPHost, log *slog.Logger) *listener {
	l := &listener{
		host: host, hear: overhear.Adverts, ask: askAgain, now: time.Now, log: log, anew: loop.NewWake(), alarm: loop.NewWake(), ear: clash.NewEar(),
		since: map[string]time.Time{}, deaf: map[string]string{}, first: map[disturber]time.Time{}, said: map[disturber]clash.Finding{},
	}
	l.ear.Have(election.IDs(p))
	return l
}

// askAgain says what the kernel knows of who answers for a VIP, and has it ask anew: what it says
// the next time is no older than its patience with who has ceased to answer.
func askAgain(on string, vip netip.Addr) (addr.Neighbour, error) {
	n, err := link.Neighbour(on, vip)
	if err != nil {
		return n, err
	}
	return n, link.Ask(on, vip)
}

// Hear takes the elections that are to be listened to. It may be called again and again.
func (l *listener) Hear(instances []clash.Instance) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if reflect.DeepEqual(instances, l.wanted) {
		return
	}
	l.wanted = instances
	l.ear.Expect(instances)
	loop.Wake(l.anew)
}

// Air is what has been heard of who else is there.
func (l *listener) Air() clash.Air {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ear.Air(l.since, l.now())
}

// State is what is known now. Its findings are those that have been said.
func (l *listener) State() clash.State {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.ear.State(l.since, maps.Clone(l.deaf), l.now())
	s.Findings = append([]clash.Finding{}, l.found...)
	return s
}

// announced is who else was heard last for each VIP.
func (l *listener) announced() map[string]journal.Announced {
	out, last := map[string]journal.Announced{}, map[string]time.Time{}
	for _, s := range l.State().Speakers {
		if name := string(s.Instance); s.Last.After(last[name]) {
			out[name], last[name] = journal.Announced{By: s.Address, Priority: int(s.Priority), At: s.Last}, s.Last
		}
	}
	return out
}

// follow listens until ctx ends.
func (l *listener) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var listening sync.WaitGroup
	defer listening.Wait()
	defer cancel()
	tick := time.NewTicker(everyLook)
	defer tick.Stop()
	asked := time.Time{}
	l.links = map[string]context.CancelFunc{} // those of an earlier run have ended with it
	for {
		l.attend(ctx, &listening)
		if now := l.now(); now.Sub(asked) >= everyAnswers {
			asked = now
			l.answers()
		}
		if err := l.look(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-l.anew:
		case <-tick.C:
		case <-l.alarm:
			select { // whoever floods the link has the listener look no more often
			case <-ctx.Done():
				return nil
			case <-time.After(soonestLook):
			}
		}
	}
}

// attend listens on the links of the elections, and on no other.
func (l *listener) attend(ctx context.Context, listening *sync.WaitGroup) {
	l.mu.Lock()
	wanted := map[string]bool{}
	for _, i := range l.wanted {
		wanted[i.Link] = true
	}
	l.mu.Unlock()
	for on, stop := range l.links {
		if !wanted[on] || ctx.Err() != nil {
			stop()
			delete(l.links, on)
		}
	}
	for name := range wanted {
		if l.links[name] == nil {
			on, stop := context.WithCancel(ctx)
			l.links[name] = stop
			listening.Go(func() { l.listen(on, name) })
		}
	}
}

// listen hears a link until ctx ends. A link that cannot be heard, as it is down or has gone, is
// tried again.
func (l *listener) listen(ctx context.Context, name string) {
	var said loop.News
	for ctx.Err() == nil {
		begin := l.now()
		l.note(func() { l.since[name] = begin })
		err := l.hear(ctx, name, func(h overhear.Heard) { l.heard(name, h) })
		l.note(func() {
			if l.since[name].Equal(begin) { // and not the one that follows upon this one
				delete(l.since, name)
			}
			delete(l.deaf, name)
			if err != nil && ctx.Err() == nil {
				l.deaf[name] = err.Error()
			}
		})
		if err != nil && ctx.Err() == nil && said.Is(err.Error()) {
			l.log.Warn("hear who else is in the elections", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(everyLook):
		}
	}
	l.note(func() { delete(l.deaf, name) })
}

func (l *listener) note(what func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	what()
}

// heard takes an advert in. That of a foreign router is looked at at once.
func (l *listener) heard(on string, h overhear.Heard) {
	if l.adverts != nil {
		l.adverts(h)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ear.Hear(clash.Heard{Link: on, MAC: h.MAC.String(), At: h.At, Advert: h.Advert})
	for _, i := range l.wanted {
		if i.Link == on && i.ID == h.ID && i.VIP.Is4() == h.From.Is4() && !slices.Contains(h.VIPs, i.VIP) {
			loop.Wake(l.alarm)
		}
	}
}

// answers takes in who answers for the VIPs. This host's own kernel asks nobody for what it has
// itself, so it is the other hosts that see a second holder.
func (l *listener) answers() {
	l.mu.Lock()
	wanted := l.wanted
	l.mu.Unlock()
	for _, i := range wanted {
		if !i.Near {
			continue
		}
		n, err := l.ask(i.Link, i.VIP)
		if err != nil || n.MAC == "" {
			continue // the link has gone, or nobody answers: its elections say so
		}
		l.mu.Lock()
		l.ear.Answer(i.Link, i.VIP, n.MAC, l.now())
		l.mu.Unlock()
	}
}

// look says what has changed, and writes down what is known.
func (l *listener) look() error {
	status, err := l.host.Status()
	if err != nil {
		return fmt.Errorf("read the supervisor's status: %w", err)
	}
	l.mu.Lock()
	now := l.now()
	for name, at := range l.since { // what cannot be heard fails at once
		if now.Sub(at) >= settled {
			delete(l.deaf, name)
		}
	}
	for _, i := range l.wanted {
		own := status.Instances[string(i.Name)]
		l.ear.Self(i.Name, own.State == supervised.Master, vrrp.Priority(own.Priority), now)
	}
	all := l.ear.Findings(now)
	l.mu.Unlock()
	changed := l.judge(all, now)
	if !changed && now.Sub(l.wrote) < everyState {
		return nil
	}
	path := l.host.at(election.RunDir, clash.StateFile)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make a directory for what was heard: %w", err)
	}
	if err := file.Write(path, clash.EncodeState(l.State()), 0o644); err != nil {
		return err
	}
	l.wrote = now
	return nil
}
