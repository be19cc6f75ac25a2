package tracks

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/host/supervise/pace"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// TestDropBonuses holds that a monitor without a heartbeat costs a node its bonuses, and does not
// undo the demotion of a node that releases its VIPs.
func TestDropBonuses(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	s := New(t.TempDir(), log, pace.NewTasks(t.Context(), log))
	lb := filepath.Join(s.runDir, supervised.TrackDir, "lb")
	leave := filepath.Join(s.runDir, supervised.TrackDir, supervised.LeaveTrack)
	if err := errors.Join(s.Prepare(), os.WriteFile(lb, []byte(yes), 0o644), s.Demote(true),
		s.dropBonuses()); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{lb: no, leave: yes} {
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v, want %q", path, got, err, want)
		}
	}
}
