// Package tracks sees to the files that keepalived's priorities follow from: that their directories
// exist, that they count for nothing without a monitor, and that keepalived follows them.
package tracks

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/pace"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// The numbers in a tracked file.
const (
	no  = "0\n"
	yes = "1\n"
)

// Tracks are the tracked files of a run directory.
type Tracks struct {
	runDir string
	log    *slog.Logger
	tasks  *pace.Tasks

	heartbeat heartbeat
	readAt    time.Time // when it is read next
	stale     bool

	expected  map[string]expectation // by instance
	different difference
	cede      chan struct{} // one slot: the inotify instance of this process is to be closed
}

// New knows of no configuration yet.
func New(runDir string, log *slog.Logger, tasks *pace.Tasks) *Tracks {
	return &Tracks{runDir: runDir, log: log, tasks: tasks, cede: loop.NewWake()}
}

// SetConfig takes the running configuration, from which the priorities to expect follow.
func (t *Tracks) SetConfig(c keepalived.Config) { t.expected = expectations(c) }

// heartbeat is the monitor's, by this process's clock.
type heartbeat struct {
	last string
	at   time.Time // when last was new
}

// stale takes what the file holds now and reports whether it has not changed for too long. Without
// any heartbeat so far there is no monitor: the bootstrap phase needs none for its health.
func (h *heartbeat) stale(text string, now time.Time) bool {
	if h.at.IsZero() || text != h.last && text != "" {
		h.last, h.at = text, now
	}
	return h.last != "" && now.Sub(h.at) >= vrrp.Silence
}

// CheckMonitor removes this node's bonuses while the monitor does not maintain them: at every beat
// and through the files, so that a monitor which comes back has nothing to undo. Faults stay as
// they are: if all monitors ended at once, all nodes would be demoted together, and no VIP would
// move.
func (t *Tracks) CheckMonitor(now time.Time) error {
	if !pace.Due(t.readAt, now) {
		return nil
	}
	t.readAt = now.Add(pace.Beat)
	text, err := os.ReadFile(filepath.Join(t.runDir, supervised.HeartbeatFile))
	if err != nil {
		text = nil // whatever keeps it from being read, there is no heartbeat
	}
	stale := t.heartbeat.stale(string(text), now)
	if stale != t.stale {
		t.log.Warn("monitor", "silent", stale, "bound", vrrp.Silence)
		t.stale = stale
	}
	if !stale {
		return nil
	}
	return t.dropBonuses()
}

// MonitorStale reports whether the monitor's heartbeat has not changed for too long.
func (t *Tracks) MonitorStale() bool { return t.stale }

func (t *Tracks) dropBonuses() error {
	dir := filepath.Join(t.runDir, supervised.TrackDir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("list tracked files: %w", err)
	}
	var failed error
	for _, e := range entries {
		if e.Name() == supervised.LeaveTrack || strings.HasPrefix(e.Name(), ".") ||
			!e.Type().IsRegular() {
			continue
		}
		_, err := file.Update(filepath.Join(dir, e.Name()), []byte(no), 0o644)
		failed = errors.Join(failed, err)
	}
	return failed
}

// Prepare makes the directories of tracked files. keepalived watches them, so they must exist
// before a round starts it, tests a configuration or reloads it. Since 2.2.8 it refuses a
// configuration that tracks a file in a missing directory; some releases crash, or never end their
// test.
func (t *Tracks) Prepare() error {
	var failed error
	for _, dir := range []string{supervised.TrackDir, supervised.HolderDir, supervised.FaultDir} {
		if err := os.Mkdir(filepath.Join(t.runDir, dir), 0o755); !errors.Is(err, fs.ErrExist) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// Demote writes whether keepalived is to have the lowest priority.
func (t *Tracks) Demote(on bool) error {
	number := no
	if on {
		number = yes
	}
	path := filepath.Join(t.runDir, supervised.TrackDir, supervised.LeaveTrack)
	_, err := file.Update(path, []byte(number), 0o644)
	return err
}
