package supervise

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// The numbers in a tracked file.
const (
	no  = "0\n"
	yes = "1\n"
)

// ear listens to the monitor's heartbeat, by its own clock.
type ear struct {
	last string
	at   time.Time // when last was new
}

// hear says whether the monitor has been silent for too long. One that has never said anything is
// none: the bootstrap phase has no health that anybody must keep up to date.
func (e *ear) hear(text string, now time.Time) (silent bool) {
	if e.at.IsZero() || text != e.last && text != "" {
		e.last, e.at = text, now
	}
	return e.last != "" && now.Sub(e.at) >= vrrp.Silence
}

// listen takes this node's bonuses away while nobody keeps them up to date, at every beat and by
// the file, so that a monitor which comes back finds nothing to undo. Faults stay as they are: were
// all monitors dead at once, all nodes would have sunk together, and no VIP moves.
func (s *supervisor) listen(now time.Time) error {
	if now.Add(along).Before(s.listenAt) {
		return nil
	}
	s.listenAt = now.Add(beat)
	text, err := os.ReadFile(filepath.Join(s.RunDir, supervised.HeartbeatFile))
	if err != nil {
		text = nil // whatever keeps it from being read, the monitor is not heard
	}
	silent := s.ear.hear(string(text), now)
	if silent != s.status.MonitorSilent {
		s.Log.Warn("monitor", "silent", silent, "bound", vrrp.Silence)
		s.status.MonitorSilent = silent
	}
	if !silent {
		return nil
	}
	return s.dropBonuses()
}

func (s *supervisor) dropBonuses() error {
	dir := filepath.Join(s.RunDir, supervised.TrackDir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("list tracked files: %w", err)
	}
	var failed error
	for _, e := range entries {
		if e.Name() == supervised.LeaveTrack || strings.HasPrefix(e.Name(), ".") || !e.Type().IsRegular() {
			continue
		}
		_, err := file.Update(filepath.Join(dir, e.Name()), []byte(no), 0o644)
		failed = errors.Join(failed, err)
	}
	return failed
}

// prepareTracks makes the directories of tracked files: keepalived watches them, and so they must
// be there before a turn starts it, tests a configuration or has it read its own again. Since 2.2.8
// it refuses one that tracks a file in a missing directory; some releases crash, or never end their
// test.
func (s *supervisor) prepareTracks() {
	var failed error
	for _, dir := range []string{supervised.TrackDir, supervised.HolderDir, supervised.FaultDir} {
		if err := os.Mkdir(filepath.Join(s.RunDir, dir), 0o755); !errors.Is(err, fs.ErrExist) {
			failed = errors.Join(failed, err)
		}
	}
	s.note("prepare tracked files", failed)
}

// trackLeave writes whether keepalived shall sink below every other router.
func (s *supervisor) trackLeave(number string) error {
	_, err := file.Update(filepath.Join(s.RunDir, supervised.TrackDir, supervised.LeaveTrack), []byte(number), 0o644)
	return err
}
