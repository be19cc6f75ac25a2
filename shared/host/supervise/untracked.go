package supervise

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// keepalived follows tracked files by an inotify instance of its own, of which a host has a limited
// number for each user. Without one it tracks nothing, and says so in one line of its log: the
// node's health counts for nothing, and it may be FAULT for ever. So the priorities that it reports
// are compared with those that its files give. Where they differ for long, this process gives its
// own inotify instance up, and has keepalived read its configuration again, in which it opens one.
const (
	untrackedBeats = 5 // in a row, at which priorities differ
	untrackedTask  = "have keepalived follow its tracked files"
)

// errCeded ends a watch of files so that keepalived gets its inotify instance.
var errCeded = errors.New("its inotify instance is left to keepalived; files are looked at once a second")

// untracked is how long priorities have differed.
type untracked struct {
	beats   int
	at      time.Time // of the next comparison
	retry   backoff
	reloads time.Time // not before
}

// compare notices a keepalived that does not follow its files, and acts.
func (s *supervisor) compare(now time.Time) error {
	u := &s.untracked
	if now.Add(along).Before(u.at) {
		return nil
	}
	u.at = now.Add(beat)
	differ := s.differing()
	if len(differ) == 0 {
		*u = untracked{at: u.at, retry: backoff{failures: 1}}
		s.note(untrackedTask, nil)
		select {
		case <-s.cede:
		default:
		}
		return nil
	}
	if u.beats++; u.beats < untrackedBeats {
		return nil
	}
	s.note(untrackedTask, fmt.Errorf("the priorities of %s are not what its tracked files give: "+
		"see its log, and fs.inotify.max_user_instances", strings.Join(differ, ", ")))
	if u.beats == untrackedBeats {
		wake(s.cede)
		return nil // by the next beat it is closed
	}
	if now.Before(u.reloads) {
		return nil
	}
	wake(s.cede) // for the next time, if it has been opened again
	u.reloads = now.Add(max(u.retry.next(0), untrackedBeats*beat))
	s.Log.Info("reload keepalived", "why", "it does not follow its tracked files")
	return s.children.signal(s.daemon.child, unix.SIGHUP)
}

// differing are the instances whose priority is not what their tracked files give.
func (s *supervisor) differing() (names []string) {
	if d := s.daemon; d == nil || !d.spoke || d.loaded != s.inForce {
		return nil
	}
	read := map[string]int{} // each file once, as most instances track the same
	number := func(path string) int {
		if _, ok := read[path]; !ok {
			read[path] = readNumber(path)
		}
		return read[path]
	}
	for _, name := range slices.Sorted(maps.Keys(s.order.tracking)) {
		if s.order.tracking[name].differs(s.status.Instances[name], number) {
			names = append(names, name)
		}
	}
	return names
}

// watchFiles wakes the loop when one of its files changes, until it is to leave its inotify
// instance to keepalived.
func (s *supervisor) watchFiles(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var paths []string
	for _, name := range []string{supervised.CandidateFile, supervised.CandidateText, supervised.LeaveFile, supervised.UnservedFile} {
		paths = append(paths, filepath.Join(s.RunDir, name))
	}
	ended := make(chan error, 1)
	go func() { ended <- file.Watch(ctx, paths, s.candidate) }()
	select {
	case err := <-ended:
		return err
	case <-s.cede:
		stop()
		<-ended
		return errCeded
	}
}
