// Package recorder keeps a host's journal of its VIPs in a file: of their holders by VRRP, and of
// what the host announces by BGP.
package recorder

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

	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/rundir"
	"github.com/onprem-infra/onprem-infra/shared/host/speakdir"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// maxWaiting is how many clashes wait for a disk that hangs.
const maxWaiting = 50

// Options are what a Recorder needs.
type Options struct {
	Plan   plan.Plan
	Run    rundir.Dir       // of keepalived's parent; empty for none
	Path   string           // of the journal
	Checks []vrrp.CheckName // of the host; none on the bootstrap machine
	Passes func(vrrp.CheckName) bool
	// Announced are the other routers that advertise the VIPs; nil if the host does not listen.
	Announced func() map[string]journal.Announced
	// Report takes every new entry that is no clash and, marked as late, those of an earlier run;
	// may be nil.
	Report func(journal.Entry)
	// Speaker has the files of FRR's parent; empty if this program's journal has nothing of it.
	Speaker speakdir.Dir
	// Unannounced is why the host does not announce VIPs; may be nil.
	Unannounced func() map[netip.Addr]string
	Log         *slog.Logger
}

// Recorder keeps the journal. It runs beside the monitor's loop: a disk that hangs must not stop a
// heartbeat.
type Recorder struct {
	options Options
	vips    map[string]netip.Addr // by instance
	bars    map[string][]string   // by instance, the checks that make a node ineligible
	journal *journal.Journal
	saved   bool // the file holds the journal

	wake    chan struct{}
	mu      sync.Mutex
	clashes []journal.Entry // that are not in the journal yet
}

// New makes a recorder that has read nothing yet.
func New(o Options) *Recorder {
	o.Checks = slices.Compact(slices.Sorted(slices.Values(o.Checks)))
	r := &Recorder{
		options: o, vips: map[string]netip.Addr{}, bars: map[string][]string{},
		wake: loop.NewWake(),
	}
	for e, v := range election.All(o.Plan) {
		name := string(v.Instance)
		r.vips[name] = v.Address
		for _, weight := range e.Scheme.Checks {
			if weight.Fault {
				r.bars[name] = append(r.bars[name], string(weight.Check))
			}
		}
	}
	return r
}

// AddClash takes a clash of a listener without waiting, and drops it if maxWaiting of them wait.
func (r *Recorder) AddClash(e journal.Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.clashes) < maxWaiting {
		r.clashes = append(r.clashes, e)
	}
	loop.Wake(r.wake)
}

// Run records changes until ctx ends.
func (r *Recorder) Run(ctx context.Context) error {
	lost := make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel()
	watching.Go(func() { lost <- file.Watch(ctx, r.watched(), r.wake) })
	for {
		select {
		case err := <-lost:
			return err
		case <-r.wake:
		}
		if err := r.Record(); err != nil {
			return err
		}
	}
}

// watched are the files that are read.
func (r *Recorder) watched() (files []string) {
	if r.options.Run != "" {
		files = append(files, r.options.Run.StatusFile())
	}
	if r.options.Speaker != "" {
		files = append(files, r.options.Speaker.At(spoken.StatusFile))
	}
	return files
}

// Record observes once, and writes what is new. What cannot be written is written the next time.
func (r *Recorder) Record() error {
	if r.journal == nil {
		r.read()
	}
	observed, err := r.observe()
	if err != nil {
		return err
	}
	r.mu.Lock()
	clashes := r.clashes
	r.clashes = nil
	r.mu.Unlock()
	for _, e := range clashes {
		e.Boot = observed.Boot
		r.journal.Disturbed(e)
		r.saved = false
	}
	for _, e := range r.journal.Note(observed) {
		r.saved = false
		r.options.Log.Info("this node's part in a VIP",
			"vip", e.VIP, "state", e.State, "why", e.Why)
		if r.options.Report != nil {
			r.options.Report(e)
		}
	}
	if err := r.recordAnnouncing(observed.At, observed.Boot); err != nil {
		return err
	}
	if r.saved {
		return nil
	}
	if err := file.Write(r.options.Path, r.journal.Encode(), 0o644); err != nil {
		return fmt.Errorf("keep the journal: %w", err)
	}
	r.saved = true
	return nil
}

func (r *Recorder) observe() (l journal.Observation, err error) {
	l = journal.Observation{At: time.Now(), VIPs: r.vips, Barred: map[string][]string{}}
	if r.options.Run != "" {
		if l.Status, err = r.options.Run.Status(); err != nil {
			return l, fmt.Errorf("read the supervisor's status: %w", err)
		}
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return l, fmt.Errorf("read which boot this is: %w", err)
	}
	l.Boot = strings.TrimSpace(string(boot))
	for _, check := range r.options.Checks {
		if !r.options.Passes(check) {
			l.Failing = append(l.Failing, string(check))
		}
	}
	for instance, checks := range r.bars {
		passes := func(check string) bool { return !slices.Contains(l.Failing, check) }
		l.Barred[instance] = slices.DeleteFunc(slices.Clone(checks), passes)
	}
	if r.options.Announced != nil {
		l.Announced = r.options.Announced()
	}
	return l, nil
}

// read takes over what an earlier run wrote. If that cannot be read, a new journal begins.
func (r *Recorder) read() {
	r.journal, r.saved = &journal.Journal{}, true
	text, err := os.ReadFile(r.options.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		r.journal, err = journal.Decode(text)
	}
	if err != nil {
		r.options.Log.Warn("read the journal of an earlier run",
			"file", r.options.Path, "error", err)
	}
	for _, e := range r.journal.Entries() {
		if r.options.Report != nil && e.Clash == "" {
			e.Late = true
			r.options.Report(e)
		}
	}
}
