package supervise

import (
	"context"
	"errors"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

func (s *supervisor) drive(ctx context.Context) error {
	now := time.Now()
	running := s.candidates.running
	switch {
	case running == "":
		return nil
	case !s.daemon.Running():
		if !s.daemon.MayStart(now) || s.status.Leaving != supervised.Stays {
			return nil
		}
		return s.start(ctx, now)
	case s.daemon.Config() != running && s.daemon.MayReload(now):
		s.instances.NoteBonuses(now) // also of the instances that come with it
		if err := s.daemon.Reload(running); err != nil {
			return err
		}
		s.Log.Info("reload keepalived", "sha256", running)
	}
	s.daemon.NoteRunning(now)
	return nil
}

func (s *supervisor) start(ctx context.Context, now time.Time) error {
	s.daemon.Clear()
	s.instances.NoteBonuses(time.Now())
	if s.YieldOnTerm {
		ctx = context.WithoutCancel(ctx) // the handover comes before the SIGTERM
	}
	return s.daemon.Start(ctx, s.events.fifo, s.candidates.running, now)
}

// reapDaemon cleans up after a keepalived that ended by itself. If an address stays, the loop
// finds it as an orphan.
func (s *supervisor) reapDaemon() {
	pause := s.daemon.Exit()
	if err := s.cleanUp(0); err != nil {
		s.Log.Error("clean up after keepalived", "error", err)
	}
	s.daemon.Forget(pause)
	s.forgetReports()
}

// onVRRPExit removes the VIPs when no VRRP process advertises them any more.
func (s *supervisor) onVRRPExit() {
	s.daemon.ForgetVRRP()
	if s.daemon.Exited() {
		return // the next round cleans up
	}
	s.Log.Error("keepalived's VRRP process ended")
	if err := s.orphans.RemoveAll("its VRRP process ended"); err != nil {
		s.Log.Error("remove addresses", "error", err)
	}
	s.forgetReports()
}

// forgetReports resets what keepalived has reported: one that does not run holds no VIP.
func (s *supervisor) forgetReports() {
	s.adverts.Forget()
	for _, vip := range s.instances.Forget() {
		s.sessions.Released(vip)
	}
}

// undoInterval reloads keepalived if an instance waits by an interval that it has adopted.
func (s *supervisor) undoInterval(now time.Time) error {
	reload, failing := s.adverts.Undo(now, s.reported())
	if reload {
		failing = errors.Join(failing, s.daemon.Reload(s.daemon.Config()))
	}
	return failing
}

// compareTracks reloads keepalived if it does not follow its tracked files. What it reports while
// it has yet to read a configuration does not count.
func (s *supervisor) compareTracks(now time.Time) error {
	reported := s.reported()
	if s.daemon.Config() != s.candidates.running {
		reported = nil
	}
	if !s.tracks.Compare(now, reported) {
		return nil
	}
	s.Log.Info("reload keepalived", "why", "it does not follow its tracked files")
	return s.daemon.Reload(s.daemon.Config())
}
