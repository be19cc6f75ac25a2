//go:build remote

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/cluster/vip/publish"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// bootID names the run of the kernel.
const bootID = "/proc/sys/kernel/random/boot_id"

// writer keeps a host's journal of who held its VIPs. It runs beside the room: a disk that hangs
// must not keep a heartbeat.
type writer struct {
	host   nodeVIPHost
	vips   map[string]netip.Addr // by instance
	bars   map[string][]string   // by instance, the checks that keep it out of the election when they fail
	checks []vrrp.CheckName
	passes func(vrrp.CheckName) bool
	now    func() time.Time
	told   func(journal.Entry) // hears what is written down, and what an earlier run wrote, as late; nil for nobody
	log    *slog.Logger

	journal *journal.Journal
	wrote   bool // what the journal has is in the file

	heard func() map[string]journal.Announced // who else is in the elections; nil for a host that does not listen

	wake    chan struct{}
	mu      sync.Mutex
	clashes []journal.Entry // that are not in the journal yet
}

// mostWaiting is how many clashes wait for a disk that hangs.
const mostWaiting = 50

// disturbed takes a clash that somebody else has found. It waits for nobody.
func (w *writer) disturbed(e journal.Entry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.clashes) < mostWaiting {
		w.clashes = append(w.clashes, e)
	}
	loop.Wake(w.wake)
}

// waiting are the clashes that have come meanwhile.
func (w *writer) waiting() []journal.Entry {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.clashes
	w.clashes = nil
	return all
}

// newWriter keeps the journal of a host that makes checks, or makes none, as the bootstrap machine.
func newWriter(p plan.Plan, host nodeVIPHost, checks []vrrp.CheckName, passes func(vrrp.CheckName) bool, log *slog.Logger) *writer {
	w := &writer{host: host, vips: map[string]netip.Addr{}, bars: map[string][]string{}, checks: slices.Compact(slices.Sorted(slices.Values(checks))), passes: passes, now: time.Now, log: log, wake: loop.NewWake()}
	for e, v := range election.All(p) {
		w.vips[string(v.Instance)] = v.Address
		if e.Kind == vrrp.Ingress {
			w.bars[string(v.Instance)] = barring(e.Scheme)
		}
	}
	return w
}

// barring are the checks whose failure takes a node out of an election.
func barring(l plan.Ladder) (checks []string) {
	for _, weight := range l.Checks {
		if weight.Fault {
			checks = append(checks, string(weight.Check))
		}
	}
	return checks
}

// newNodeWriter is newWriter for a node of a role.
func newNodeWriter(p plan.Plan, r role.Role, host nodeVIPHost, made interface{ Passes(vrrp.CheckName) bool }, log *slog.Logger) *writer {
	var checks []vrrp.CheckName
	for _, weight := range vip.Weights(p, r) {
		checks = append(checks, weight.Check)
	}
	return newWriter(p, host, checks, made.Passes, log)
}

// follow writes down what changes, until ctx ends.
func (w *writer) follow(ctx context.Context) error {
	lost := make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel()
	watching.Go(func() { lost <- file.Watch(ctx, []string{w.host.at(election.RunDir, supervised.StatusFile)}, w.wake) })
	for {
		select {
		case err := <-lost:
			return err
		case <-w.wake:
		}
		if err := w.look(); err != nil {
			return err
		}
	}
}

// look takes one look, and writes when there is something new. What could not be written is written
// with the next look.
func (w *writer) look() error {
	if w.journal == nil {
		w.read()
	}
	status, err := w.host.Status()
	if err != nil {
		return fmt.Errorf("read the supervisor's status: %w", err)
	}
	boot, err := os.ReadFile(bootID)
	if err != nil {
		return fmt.Errorf("read which boot this is: %w", err)
	}
	l := journal.Look{At: w.now(), Boot: strings.TrimSpace(string(boot)), Status: status, VIPs: w.vips}
	for _, check := range w.checks {
		if !w.passes(check) {
			l.Failing = append(l.Failing, string(check))
		}
	}
	l.Barred = map[string][]string{}
	for instance, checks := range w.bars {
		l.Barred[instance] = slices.DeleteFunc(slices.Clone(checks), func(check string) bool { return !slices.Contains(l.Failing, check) })
	}
	if w.heard != nil {
		l.Announced = w.heard()
	}
	for _, e := range w.waiting() {
		e.Boot = l.Boot
		w.journal.Disturbed(e)
		w.wrote = false
	}
	for _, e := range w.journal.Note(l) {
		w.wrote = false
		w.log.Info("this node's part in a VIP", "vip", e.VIP, "state", e.State, "why", e.Why)
		if w.told != nil {
			w.told(e)
		}
	}
	if w.wrote {
		return nil
	}
	if err := file.Write(w.host.at(journal.Path), w.journal.Encode(), 0o644); err != nil {
		return fmt.Errorf("keep the journal: %w", err)
	}
	w.wrote = true
	return nil
}

// read takes over what an earlier run wrote. A journal that cannot be read is no reason to write
// none.
func (w *writer) read() {
	w.journal, w.wrote = &journal.Journal{}, true
	text, err := os.ReadFile(w.host.at(journal.Path))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		w.journal, err = journal.Decode(text)
	}
	if err != nil {
		w.log.Warn("read the journal of an earlier run", "file", journal.Path, "error", err)
	}
	for _, e := range w.journal.Entries() {
		if w.told != nil && e.Clash == "" {
			e.Late = true
			w.told(e)
		}
	}
}

// change is an entry of the journal as an Event reports it.
func change(e journal.Entry) publish.Change {
	return publish.Change{
		At: e.At, Instance: e.Instance, VIP: e.VIP, Holder: e.State == supervised.Master,
		Earlier: e.Late, Why: e.Why,
	}
}
