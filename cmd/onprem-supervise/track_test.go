package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// TestTrackedDirectories_Removed holds that the directories of tracked files exist whenever
// keepalived reads a configuration: since 2.2.8 it refuses one that tracks a file in a missing
// directory, crashes, or does not end.
func TestTrackedDirectories_Removed(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	s := newRealKeepalived(t)
	s.start(l.host)
	s.propose(fast(s.dir))
	s.untilMaster(10 * time.Second)
	held := l.watch(t)
	held.until(t, "with both VIPs", 10*time.Second, 2)
	dirs := []string{supervised.TrackDir, supervised.HolderDir, supervised.FaultDir}
	for _, dir := range dirs {
		s.removeAll(dir)
	}
	want := s.propose(fast(s.dir) + "# another\n")
	s.until("accepted", 10*time.Second,
		func(st supervised.Status) bool { return st.Applied == want })
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(s.dir, dir)); errors.Is(err, os.ErrNotExist) {
			t.Errorf("keepalived has read a configuration without the directory %s", dir)
		}
	}
	if refused := s.status().Refused; refused != nil || held.low() != 2 {
		t.Errorf("refused: %+v; at the least %d of 2 VIPs were held", refused, held.low())
	}
}

// TestTrackedDirectories_BeforeTheTest has a keepalived that refuses, as 2.2.8 or later does, a
// configuration that it tests without the directories.
func TestTrackedDirectories_BeforeTheTest(t *testing.T) {
	t.Parallel()
	s := newFakeKeepalived(t)
	script := s.cmd.Args[len(s.cmd.Args)-1]
	refuses := `for dir in track holder fault; do
		[ -d "$DIR/$dir" ] || { echo "no directory $dir" >&2; exit 5; }
	done`
	put(t, script, strings.Replace(fakeKeepalived, `grep bad "$conf" >&2 && exit 4`, refuses, 1))
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	s.start(netns.New(t))
	first := s.propose(serving)
	s.until("running", 10*time.Second,
		func(st supervised.Status) bool { return st.Applied == first })
	// A directory that vanishes within a round, behind its preparation, is missing for the test of
	// that round: it is tried again.
	for n := range 3 {
		s.removeAll(supervised.FaultDir)
		next := s.propose(fmt.Sprintf("%s# another %d\n", serving, n))
		s.until("running", 10*time.Second,
			func(st supervised.Status) bool { return st.Applied == next })
		if s.log.count("refuse configuration") == n {
			return
		}
	}
	t.Error("keepalived refused each configuration at first")
}

// removeAll removes a directory of the supervisor, which may write there meanwhile.
func (s *supervisor) removeAll(dir string) {
	s.t.Helper()
	await(s.t, dir+" is not removed", 10*time.Second, func() bool {
		return os.RemoveAll(filepath.Join(s.dir, dir)) == nil
	})
}
