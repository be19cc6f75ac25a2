package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// TestTrackedDirectories_Removed holds that the directories of tracked files are there whenever
// keepalived looks at a configuration: since 2.2.8 it refuses one that tracks a file in a directory
// which is missing, crashes, or does not end.
func TestTrackedDirectories_Removed(t *testing.T) {
	l := newLAN(t)
	s := realKeepalived(t)
	s.start(l.host)
	s.propose(fast(s.dir))
	s.untilMaster(5 * time.Second)
	held := l.watch(t)
	held.until(t, "with both VIPs", time.Second, 2)
	dirs := []string{supervised.TrackDir, supervised.HolderDir, supervised.FaultDir}
	for _, dir := range dirs {
		if err := os.RemoveAll(filepath.Join(s.dir, dir)); err != nil {
			t.Fatal(err)
		}
	}
	want := s.propose(fast(s.dir) + "# another\n")
	s.until("accepted", 5*time.Second, func(st supervised.Status) bool { return st.Applied == want })
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(s.dir, dir)); errors.Is(err, os.ErrNotExist) {
			t.Errorf("keepalived has looked at a configuration without the directory %s", dir)
		}
	}
	if refused := s.status().Refused; refused != nil || held.low() != 2 {
		t.Errorf("refused: %+v; at the least %d of 2 VIPs were held", refused, held.low())
	}
}
