// Package supervise is keepalived's parent: it wires the rooms below it in one loop, so that
// keepalived runs on a tested configuration and no VIP outlives the process that answers for it.
package supervise

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/first"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/adverts"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/daemon"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/instances"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/orphans"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/pace"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/protocol"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/sessions"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/tracks"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// Options are what to supervise, and how.
type Options struct {
	Config string       // the file that keepalived reads; written by the supervisor alone
	RunDir string       // holds the files of package supervised, and keepalived's pid files
	VIPs   []netip.Addr // the addresses that no interface may have without keepalived
	Health string       // where to serve the health port, an address and port; empty for nowhere
	// Command is keepalived and flags of the caller's. Flags for the foreground, its configuration
	// and pid files are added.
	Command []string
	Log     *slog.Logger

	// YieldOnTerm has the end wait until another router has taken over the VIPs that are held, or
	// for as long as the elections may take. It is for hosts on which nothing that keepalived
	// needs ends at the same time.
	YieldOnTerm bool

	// RealTime makes keepalived's VRRP process real-time (SCHED_RR), so that it sends and receives
	// in time on a busy machine. It needs the capability SYS_NICE. If the kernel refuses,
	// keepalived runs at normal priority.
	RealTime bool

	// Patience is how long a request to leave waits at the least for another router to take over;
	// as long as the elections may take if that is longer.
	Patience time.Duration
}

// supervisor is the state of one Run. Only its loop changes it.
type supervisor struct {
	Options
	tasks     *pace.Tasks
	daemon    *daemon.Daemon
	instances *instances.Instances
	sessions  *sessions.Sessions
	orphans   *orphans.Orphans
	tracks    *tracks.Tracks
	adverts   *adverts.Adverts

	status     supervised.Status
	order      protocol.Order // of the running configuration
	candidates candidates
	releaseBy  time.Time // when a request to leave has waited for long enough
	rounds     first.Rounds
	roundAt    time.Time // when the last one began
	events     events
}

// events are what wakes the loop.
type events struct {
	fifo    *os.File
	lines   chan string   // of the FIFO
	files   chan struct{} // one slot, as that of network
	network chan struct{}
	gate    pace.Gate  // of network
	failed  chan error // of what the loop cannot do without
}

// Run supervises until ctx ends, then releases the VIPs, at once or as YieldOnTerm specifies, and
// returns nil. An error means that VIPs which must not be here can be neither seen nor removed, or
// that keepalived's reports cannot be read; the VIPs are released as well. Whatever else fails is
// tried again.
func Run(ctx context.Context, o Options) error {
	if _, err := os.Stat(o.RunDir); err != nil {
		return fmt.Errorf("use the run directory: %w: mount or make it", err)
	}
	// What serves the loop must outlive ctx: releasing the VIPs needs it.
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	s, err := newSupervisor(serving, o)
	if err != nil {
		return err
	}
	s.publish()
	s.orphans.RemoveLeftovers()
	if s.events.fifo = s.openFIFO(ctx); s.events.fifo != nil {
		s.serve()
		err = errors.Join(s.loop(ctx), s.events.fifo.Close())
	} // else ctx has ended, and no VIP was taken
	stop()
	s.tasks.Wait()
	return err
}

func newSupervisor(serving context.Context, o Options) (*supervisor, error) {
	tasks := pace.NewTasks(serving, o.Log)
	d, err := daemon.New(daemon.Options{
		Command: o.Command, File: o.Config, RunDir: o.RunDir, RealTime: o.RealTime,
		Log: o.Log, Tasks: tasks,
	})
	if err != nil {
		return nil, err
	}
	ended := sessions.New(o.Log)
	s := &supervisor{
		Options: o, tasks: tasks, daemon: d, sessions: ended,
		instances:  instances.New(o.RunDir, o.Log, tasks),
		orphans:    orphans.New(o.VIPs, o.Log, tasks, ended),
		tracks:     tracks.New(o.RunDir, o.Log, tasks),
		adverts:    adverts.New(o.Log, tasks),
		candidates: candidates{retry: supervised.AfterFailure()},
		events: events{
			lines: make(chan string), files: loop.NewWake(),
			network: loop.NewWake(), failed: make(chan error, 1),
		},
	}
	s.status.Instances = s.instances.States()
	return s, nil
}

// openFIFO opens the FIFO before keepalived can have anything to report. Without it no instance's
// state is known, so it is waited for; nil when ctx ends.
func (s *supervisor) openFIFO(ctx context.Context) *os.File {
	for ctx.Err() == nil {
		fifo, err := instances.OpenFIFO(filepath.Join(s.RunDir, supervised.NotifyFIFO))
		s.tasks.Note("make the FIFO", err)
		if err == nil {
			return fifo
		}
		s.publish()
		select {
		case <-ctx.Done():
		case <-time.After(pace.Beat):
		}
	}
	return nil
}

// serve starts what wakes the loop, and the health port. Without the FIFO's lines the loop must not
// go on.
func (s *supervisor) serve() {
	s.tasks.Keep("watch files", func(ctx context.Context) error {
		return s.tracks.WatchFiles(ctx, s.events.files)
	})
	s.tasks.Keep("watch addresses", func(ctx context.Context) error {
		return link.Every(ctx, s.events.network)
	})
	s.tasks.Go(func(ctx context.Context) {
		if err := instances.ReadLines(ctx, s.events.fifo, s.events.lines); err != nil {
			s.events.failed <- err
		}
	})
	if s.Health != "" {
		health := first.Health{Address: s.Health, Rounds: &s.rounds, Log: s.Log}
		s.tasks.Go(health.Serve)
	}
}

// publish writes the status. One that cannot be written is written in the next round.
func (s *supervisor) publish() {
	s.status.PID, s.status.Restarts = s.daemon.PID(), s.daemon.Restarts()
	s.status.Applied, s.status.MonitorStale = s.daemon.Config(), s.tracks.MonitorStale()
	s.status.Contested, s.status.Outlives = s.order.Contested(), s.order.Outlives
	s.status.Troubles = s.tasks.Failing()
	path := filepath.Join(s.RunDir, supervised.StatusFile)
	_, err := file.Update(path, supervised.Encode(s.status), 0o644)
	s.tasks.Note("write the status", err)
}
