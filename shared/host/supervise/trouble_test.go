package supervise

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// TestKeep_Cancelled holds that a feed which is not wanted any more leaves no trouble behind.
func TestKeep_Cancelled(t *testing.T) {
	s := &supervisor{Options: Options{Log: slog.New(slog.DiscardHandler)}}
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan struct{})
	s.keep(ctx, "receive", func(context.Context) error {
		time.AfterFunc(10*time.Millisecond, func() { close(failed) })
		return errors.New("not permitted")
	})
	<-failed
	if got := s.troubles.list(); len(got) != 1 {
		t.Errorf("while it fails: %q", got)
	}
	cancel()
	s.servants.Wait()
	if got := s.troubles.list(); len(got) != 0 {
		t.Errorf("not wanted any more: %q", got)
	}
}

// TestDue_Past holds that what has failed in a turn waits for the next beat, and that what has come
// due since then does not.
func TestDue_Past(t *testing.T) {
	for _, tt := range []struct {
		name    string
		since   time.Duration // the turn
		at      func(*supervisor, time.Time)
		waiting bool
	}{
		{"a start that failed", 0, func(s *supervisor, now time.Time) { s.startAt = now }, true},
		{"a release that failed", 0, func(s *supervisor, now time.Time) { s.status.Leaving, s.leaveBy = supervised.Asked, now }, true},
		{"a start that has come due", -10 * time.Millisecond, func(s *supervisor, now time.Time) { s.startAt = now }, false},
	} {
		now := time.Now()
		s := &supervisor{inForce: "a", turnAt: now.Add(tt.since), reapAt: now.Add(time.Hour)}
		tt.at(s, now)
		fires, stop := s.due(time.Time{})
		select {
		case <-fires:
			if tt.waiting {
				t.Errorf("%s is tried again at once", tt.name)
			}
		case <-time.After(200 * time.Millisecond):
			if !tt.waiting {
				t.Errorf("%s waits", tt.name)
			}
		}
		stop()
	}
}

// TestDrive_SignalFails holds that a configuration of which keepalived could not be told is not
// said to be applied, and that it is told again. FAKE: the process has been reaped by another one,
// which cannot be.
func TestDrive_SignalFails(t *testing.T) {
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	one := &child{pid: gone.Process.Pid}
	s := &supervisor{
		Options:  Options{Log: slog.New(slog.DiscardHandler)},
		inForce:  "new",
		status:   supervised.Status{Applied: "old"},
		children: &children{own: map[int]*child{one.pid: one}},
		daemon:   &daemon{child: one, loaded: "old", spoke: true},
	}
	for range 2 {
		if err := s.drive(t.Context()); err == nil || s.status.Applied != "old" {
			t.Errorf("applied %q, %v", s.status.Applied, err)
		}
	}
}

// TestDropBonuses holds that a silent monitor costs a node its bonuses, and does not undo the
// demotion of one that leaves.
func TestDropBonuses(t *testing.T) {
	s := &supervisor{Options: Options{RunDir: t.TempDir(), Log: slog.New(slog.DiscardHandler)}}
	s.prepareTracks()
	lb := filepath.Join(s.RunDir, supervised.TrackDir, "lb")
	if err := errors.Join(os.WriteFile(lb, []byte(yes), 0o644), s.trackLeave(yes), s.dropBonuses()); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{lb: no, filepath.Join(s.RunDir, supervised.TrackDir, supervised.LeaveTrack): yes} {
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v, want %q", path, got, err, want)
		}
	}
}
