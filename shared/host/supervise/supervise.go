// Package supervise is keepalived's parent: it starts keepalived, has each candidate configuration
// tested by keepalived itself before it applies it, reports VRRP states as keepalived announces
// them, gives the VIPs up in order when it is asked to, and sees to it that no VIP outlives the
// process that answers for it: not the orderly end, not a crash, not a hang, not an earlier run.
package supervise

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bonus"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/overhear"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// Options say what to supervise.
type Options struct {
	Config  string       // where keepalived reads its configuration; written by the supervisor alone
	RunDir  string       // holds the files of package supervised, and keepalived's pid files
	VIPs    []netip.Addr // the addresses that no interface may hold without keepalived
	Health  string       // where to answer over HTTP whether this process works, an address and port; empty for nowhere
	Command []string     // keepalived and flags of the caller's; flags for foreground, files and pid files are added
	Log     *slog.Logger

	// YieldOnTerm has the end wait, for as long as a request to leave does, until somebody has
	// taken over the VIPs that are held: for where nothing that keepalived needs ends beside it.
	YieldOnTerm bool

	// RealTime makes keepalived's VRRP process real-time (SCHED_RR), so that it sends and hears in
	// time on a machine that has too much to do. It needs the capability SYS_NICE, and is done
	// without where the kernel refuses.
	RealTime bool

	// Patience is how long a request to leave waits at the least for somebody to take over; as long
	// as the elections may take if that is longer.
	Patience time.Duration
}

// supervisor is the state of one Run. Only its loop touches it.
type supervisor struct {
	Options
	children *children
	fifo     *os.File
	status   supervised.Status
	inForce  string // digest of what stands in Config and has passed the test
	adopted  bool   // Config's content of an earlier run has been looked at
	proposal proposal
	daemon   *daemon
	starts   int       // of keepalived, so far
	ends     int       // of keepalived, by itself
	pace     backoff   // of its starts
	startAt  time.Time // not before
	retry    backoff   // of a refused candidate's tests
	retestAt time.Time // not before

	pulse    pulseTaker               // of the loop
	turnAt   time.Time                // when the last turn began
	order    order                    // of the configuration in force
	advert   atomic.Int64             // order.advert, for others than the loop
	ear      ear                      // for the monitor's heartbeat
	listenAt time.Time                // when it is heard next
	far      farFilter                // keeps adverts out that have passed a router
	unserved map[string]bool          // the instances that the monitor names
	stances  map[string]bonus.State   // by instance, since keepalived's VRRP process was started
	leaveBy  time.Time                // when a request to leave has waited for long enough
	lent     []netip.Addr             // VIPs that this host takes for a moment longer than keepalived has them
	looked   time.Time                // when strays were looked for last
	reapAt   time.Time                // when strays are looked for next
	churn    churn                    // of the network
	warmth   warmth                   // of what the kernel knows of the peers
	strays   map[netip.Addr]time.Time // VIPs that nobody answers for, since when
	blind    time.Time                // since when a VIP that must not be here can be neither seen nor removed

	troubles  troubles
	untracked untracked
	cede      chan struct{} // one slot: the inotify instance of this process is to be closed

	adoptions map[string]adoption // by instance
	undoing   undoing
	slower    chan overhear.Delivered
	unfollow  context.CancelFunc // ends the receipt of slower; nil while there is none

	slowerThan time.Duration // the interval that those of slower are longer than; 0 while there is no receipt

	servants  servants
	candidate chan struct{} // one slot each
	network   chan struct{}
	stopped   chan struct{}
	lines     chan string
	failed    chan error
}

// servants are goroutines that end, and are waited for, when the loop has ended.
type servants struct {
	sync.WaitGroup
	ctx context.Context
}

// Run supervises until ctx ends, then gives the VIPs up, at once or as YieldOnTerm says, and
// returns nil. An error means that VIPs which must not be here can be neither seen nor removed, or
// that nothing is known of keepalived; the VIPs are given up as well. Whatever else fails is tried
// again.
func Run(ctx context.Context, o Options) error {
	if _, err := os.Stat(o.RunDir); err != nil {
		return fmt.Errorf("use the run directory: %w: mount or make it", err)
	}
	family, err := newChildren()
	if err != nil {
		return err
	}
	s := &supervisor{
		Options: o, children: family, status: supervised.Status{Instances: map[string]supervised.Instance{}}, retry: backoff{failures: 1},
		strays: map[netip.Addr]time.Time{}, stances: map[string]bonus.State{}, candidate: make(chan struct{}, 1), network: make(chan struct{}, 1), stopped: make(chan struct{}, 1), lines: make(chan string), failed: make(chan error, 3),
		adoptions: map[string]adoption{}, slower: make(chan overhear.Delivered, mostSlower), cede: make(chan struct{}, 1),
	}
	s.prepare()
	if s.fifo = s.untilFIFO(ctx); s.fifo == nil {
		return nil // ctx has ended, and no VIP was taken
	}
	// What serves the loop must outlive ctx: giving the VIPs up needs it.
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.servants.ctx = serving
	s.servants.Go(func() { s.children.reap(serving.Done()) })
	s.keep(serving, "watch files", s.watchFiles)
	s.keep(serving, "watch addresses", func(ctx context.Context) error { return link.Every(ctx, s.network) })
	s.serve(func() error { return readLines(serving, s.fifo, s.lines) })
	if s.Health != "" {
		s.servants.Go(func() { s.answer(serving) })
	}
	err = s.loop(ctx)
	stop()
	err = errors.Join(err, s.fifo.Close())
	s.servants.Wait()
	return err
}

// serve runs what feeds the loop; when it fails the loop must not go on half blind.
func (s *supervisor) serve(feed func() error) {
	s.servants.Go(func() {
		if err := feed(); err != nil {
			s.failed <- err
		}
	})
}

// prepare removes what an earlier run may have left behind, its status first. A VIP that cannot be
// removed yet is an orphaned one, which the loop removes.
func (s *supervisor) prepare() {
	s.publish()
	s.removeVIPs("left by an earlier run")
	for _, vip := range s.VIPs {
		if err := giveBack(vip); err != nil {
			s.Log.Warn("end what an earlier run was about", "error", err)
		}
	}
}

// untilFIFO opens the FIFO before keepalived can have anything to report. Without it no instance's
// state is known, so it is waited for; nil when ctx ends.
func (s *supervisor) untilFIFO(ctx context.Context) *os.File {
	for ctx.Err() == nil {
		fifo, err := openFIFO(filepath.Join(s.RunDir, supervised.NotifyFIFO))
		s.note("make the FIFO", err)
		if err == nil {
			return fifo
		}
		s.publish()
		select {
		case <-ctx.Done():
		case <-time.After(beat):
		}
	}
	return nil
}

// strip takes the VIPs, and nothing else, off every interface.
func (s *supervisor) strip(why string) error {
	var failed error
	for _, vip := range s.VIPs {
		failed = errors.Join(failed, s.stripOne(vip, why))
	}
	return failed
}

// removeVIPs is strip where the loop goes on: it reports an address that is left, and removes it.
func (s *supervisor) removeVIPs(why string) {
	if err := s.strip(why); err != nil {
		s.Log.Error("remove addresses", "error", err)
	}
}

func (s *supervisor) stripOne(vip netip.Addr, why string) error {
	removed, err := link.RemoveAddress(vip)
	for _, what := range removed {
		s.Log.Warn("remove address", "address", what, "why", why)
	}
	return err
}

// publish writes the status. One that cannot be written is written at the next turn.
func (s *supervisor) publish() {
	s.status.Troubles = s.troubles.list()
	_, err := file.Update(filepath.Join(s.RunDir, supervised.StatusFile), supervised.Encode(s.status), 0o644)
	s.note("write the status", err)
}
