package supervise

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/host/proc"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// deaf is how long a keepalived that has said nothing yet is spared a SIGHUP, which kills it before
// it has begun to handle signals.
const deaf = time.Second

// oldPIDFiles is a task.
const oldPIDFiles = "remove old pid files"

// daemon is a running keepalived: a parent that only watches, and a child of that which speaks
// VRRP.
type daemon struct {
	*child
	started  time.Time
	speaks   bool          // what comes from the FIFO is its own
	loaded   string        // digest of the configuration that it was last told to read
	spoke    bool          // on the FIFO, since its VRRP process was started
	farewell func() bool   // stops the SIGTERM that the context's end would send; false when that has been sent
	speaker  *proc.Process // the process that speaks VRRP; nil while it is not known
	vrrpGone chan struct{} // closed when the speaker has ended
	pulse    pulse         // of both
	beatAt   time.Time     // when it is felt next
}

func (d *daemon) ended() bool {
	select {
	case <-d.done:
		return true
	default:
		return false
	}
}

// drive starts keepalived, or has it read what has come in force.
func (s *supervisor) drive(ctx context.Context) error {
	now := time.Now()
	switch {
	case s.inForce == "":
		return nil
	case s.daemon == nil:
		if now.Before(s.startAt) || s.status.Leaving != supervised.Stays {
			return nil
		}
		return s.start(ctx, now)
	case s.daemon.loaded != s.inForce && (s.daemon.spoke || now.Sub(s.daemon.started) >= deaf):
		s.note("write who holds what", s.bonuses(now)) // also of the instances that come with it
		if err := s.children.signal(s.daemon.child, unix.SIGHUP); err != nil {
			return err
		}
		s.Log.Info("reload keepalived", "sha256", s.inForce)
		s.daemon.loaded, s.status.Applied = s.inForce, s.inForce
	}
	if d := s.daemon; now.Sub(d.started) >= beat {
		s.note(oldPIDFiles, nil) // it runs in spite of them
	}
	return nil
}

func (s *supervisor) start(ctx context.Context, now time.Time) error {
	if err := s.announce(); err != nil {
		return err
	}
	argv := append(s.Command[:len(s.Command):len(s.Command)], "-n", "-l", "-P", "-f", s.Config, "-p", s.pidFile(), "-r", s.vrrpPIDFile())
	one, err := s.children.start(argv, os.Stderr)
	if err != nil {
		s.Log.Error("start keepalived", "error", err)
		s.startAt = now.Add(s.pace.next(0))
		return nil
	}
	s.Log.Info("start keepalived", "pid", one.pid, "sha256", s.inForce)
	s.daemon = &daemon{child: one, started: now, loaded: s.inForce, beatAt: now.Add(beat)}
	// The farewell waits for nothing that the loop may be doing, but where it is not the first that
	// the end calls for.
	if s.YieldOnTerm {
		ctx = context.WithoutCancel(ctx)
	}
	s.daemon.farewell = context.AfterFunc(ctx, func() { s.terminate(one) })
	s.status.PID, s.status.Applied, s.status.Restarts = one.pid, s.inForce, s.ends
	s.starts++
	return nil
}

// announce clears the way for a new keepalived: it believes that it runs already, and ends with
// success, when a pid file names any living process. On the FIFO, what was written before the line
// START is its predecessor's.
func (s *supervisor) announce() error {
	var failed error
	for _, path := range []string{s.pidFile(), s.vrrpPIDFile()} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	s.note(oldPIDFiles, failed)
	s.note("write who holds what", s.bonuses(time.Now()))
	if _, err := s.fifo.WriteString(startLine(s.starts) + "\n"); err != nil {
		return fmt.Errorf("write to the FIFO: %w", err)
	}
	return nil
}

func startLine(n int) string { return fmt.Sprintf("START %d", n) }

func (s *supervisor) pidFile() string     { return filepath.Join(s.RunDir, "keepalived.pid") }
func (s *supervisor) vrrpPIDFile() string { return filepath.Join(s.RunDir, "vrrp.pid") }

// terminate asks keepalived to end in order, also one that a signal has stopped: it hears nothing
// before it goes on.
func (s *supervisor) terminate(one *child) {
	if err := errors.Join(s.children.signal(one, unix.SIGTERM), s.children.signalAll(one, unix.SIGCONT)); err != nil {
		s.Log.Error("stop keepalived", "error", err)
	}
}

// bury cleans up after a keepalived that ended by itself. The loop reports an address that is left.
func (s *supervisor) bury() {
	ran := time.Since(s.daemon.started)
	pause := s.pace.next(ran)
	s.Log.Error("keepalived ended", "outcome", outcome(s.daemon.status), "ran", ran.Round(time.Millisecond), "restart_in", pause)
	s.daemon.farewell()
	s.ends++
	if err := s.relinquish(s.daemon.child, 0); err != nil {
		s.Log.Error("clean up after keepalived", "error", err)
	}
	s.daemon, s.status.PID = nil, 0
	s.startAt = time.Now().Add(pause)
	s.forget()
}

func outcome(status syscall.WaitStatus) string {
	if status.Signaled() {
		return fmt.Sprintf("killed by %s", unix.SignalName(status.Signal()))
	}
	return fmt.Sprintf("exit status %d", status.ExitStatus())
}
