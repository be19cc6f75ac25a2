// Package daemon starts keepalived, tests its configurations, reloads and checks it, and cleans up
// after its end.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/host/proc"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/pace"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// reloadGrace is how long a keepalived that has reported nothing yet is spared a SIGHUP, which
// kills it before it has begun to handle signals.
const reloadGrace = time.Second

// oldPIDFiles is a task.
const oldPIDFiles = "remove old pid files"

// Options are what to start, and how.
type Options struct {
	Command  []string // keepalived and flags of the caller's
	File     string   // that keepalived reads its configuration from
	RunDir   string   // holds its pid files
	RealTime bool     // makes its VRRP process real-time
	Log      *slog.Logger
	Tasks    *pace.Tasks
}

// Daemon is keepalived, whether it runs or not.
type Daemon struct {
	Options
	reaper *proc.Reaper
	run    *run // nil while it does not run

	config   string // digest of the configuration that it last had to read
	starts   int    // so far
	marks    int    // so far
	exits    int    // by itself, so far
	restarts int    // the exits before the last start
	backoff  supervised.Backoff
	startAt  time.Time // not before

	advert  atomic.Int64  // the shortest time between two adverts, for the watch of stops
	stopped chan struct{} // one slot: a signal has stopped it
}

// run is a running keepalived: a parent that only watches, and a child of that which advertises.
type run struct {
	*proc.Child
	started    time.Time
	ownLines   bool          // what comes from the FIFO is its own
	reported   bool          // it has reported since its VRRP process was started
	cancelTERM func() bool   // stops the SIGTERM at the context's end; false if it has been sent
	vrrp       *proc.Process // the process that advertises; nil while it is not known
	vrrpDone   chan struct{} // closed when that process has ended
	activity   activity      // of both
	checkAt    time.Time     // when it is checked next
}

// New starts nothing yet. There is one Daemon in a process.
func New(o Options) (*Daemon, error) {
	reaper, err := proc.NewReaper()
	if err != nil {
		return nil, err
	}
	o.Tasks.Go(func(ctx context.Context) { reaper.Run(ctx.Done()) })
	return &Daemon{Options: o, reaper: reaper, stopped: loop.NewWake()}, nil
}

// Reaped has a value after one process or more have been reaped.
func (d *Daemon) Reaped() <-chan struct{} { return d.reaper.Reaped() }

// Stopped has a value when a signal has stopped keepalived.
func (d *Daemon) Stopped() <-chan struct{} { return d.stopped }

// Running reports whether keepalived has been started and its end has not been handled.
func (d *Daemon) Running() bool { return d.run != nil }

// Exited reports whether a running keepalived has ended.
func (d *Daemon) Exited() bool { return d.run != nil && d.run.Ended() }

// Reports reports whether keepalived's present VRRP process has reported on its instances.
func (d *Daemon) Reports() bool { return d.run != nil && d.run.reported }

// Config is the digest of the configuration that keepalived last had to read.
func (d *Daemon) Config() string { return d.config }

// PID is keepalived's; 0 while it does not run.
func (d *Daemon) PID() int {
	if d.run == nil {
		return 0
	}
	return d.run.PID
}

// Restarts counts the starts of keepalived after it ended by itself.
func (d *Daemon) Restarts() int { return d.restarts }

// SetAdvert takes the shortest time between two adverts.
func (d *Daemon) SetAdvert(interval time.Duration) { d.advert.Store(int64(interval)) }

// StartNow ends a pause before the next start.
func (d *Daemon) StartNow() { d.startAt = time.Time{} }

// MayStart reports whether no pause before the next start goes on.
func (d *Daemon) MayStart(now time.Time) bool { return !now.Before(d.startAt) }

// MayReload reports whether keepalived handles signals.
func (d *Daemon) MayReload(now time.Time) bool {
	return d.run.reported || now.Sub(d.run.started) >= reloadGrace
}

// DueAt is when it is due to be started, reloaded or checked if it is to run with a configuration;
// an empty digest is for none.
func (d *Daemon) DueAt(config string) []time.Time {
	switch {
	case d.run == nil && config == "":
		return nil
	case d.run == nil:
		return []time.Time{d.startAt}
	case config != "" && d.config != config:
		return []time.Time{d.run.started.Add(reloadGrace), d.run.checkAt}
	}
	return []time.Time{d.run.checkAt}
}

// Clear removes old pid files. If one names a process that lives, whichever that is, a new
// keepalived takes itself for running already, and exits with success.
func (d *Daemon) Clear() {
	var failed error
	for _, path := range []string{d.pidFile(), d.vrrpPIDFile()} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	d.Tasks.Note(oldPIDFiles, failed)
}

// NoteRunning ends the task of old pid files: keepalived runs in spite of them.
func (d *Daemon) NoteRunning(now time.Time) {
	if now.Sub(d.run.started) >= pace.Beat {
		d.Tasks.Note(oldPIDFiles, nil)
	}
}

// Start starts keepalived with a configuration, which is named by its digest. When ctx ends it gets
// a SIGTERM, whatever the loop is doing. On the FIFO, all before the line START is its
// predecessor's.
func (d *Daemon) Start(ctx context.Context, fifo io.StringWriter, config string,
	now time.Time) error {
	if _, err := fifo.WriteString(startLine(d.starts) + "\n"); err != nil {
		return fmt.Errorf("write to the FIFO: %w", err)
	}
	argv := slices.Concat(d.Command, []string{"-n", "-l", "-P", "-f", d.File, "-p", d.pidFile(),
		"-r", d.vrrpPIDFile()})
	child, err := d.reaper.Start(argv, os.Stderr)
	if err != nil {
		d.Log.Error("start keepalived", "error", err)
		d.startAt = now.Add(d.backoff.Next(0))
		return nil
	}
	d.Log.Info("start keepalived", "pid", child.PID, "sha256", config)
	d.config, d.run = config, &run{Child: child, started: now, checkAt: now.Add(pace.Beat)}
	d.run.cancelTERM = context.AfterFunc(ctx, func() { d.terminate(child) })
	d.starts, d.restarts = d.starts+1, d.exits
	return nil
}

func startLine(n int) string { return fmt.Sprintf("START %d", n) }

func (d *Daemon) pidFile() string     { return filepath.Join(d.RunDir, "keepalived.pid") }
func (d *Daemon) vrrpPIDFile() string { return filepath.Join(d.RunDir, "vrrp.pid") }

// Reload has keepalived read its configuration, which is named by its digest.
func (d *Daemon) Reload(config string) error {
	if err := d.run.Signal(unix.SIGHUP); err != nil {
		return err
	}
	d.config = config
	return nil
}
