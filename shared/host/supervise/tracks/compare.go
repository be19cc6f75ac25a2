package tracks

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/pace"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// keepalived follows tracked files by an inotify instance of its own, of which a host has a limited
// number for each user. Without one it tracks nothing, and reports so in one line of its log: the
// node's health counts for nothing, and the node may be FAULT for ever. So the priorities that it
// reports are compared with those that its files give. If they differ for long, this process closes
// its own inotify instance, and has keepalived reload, in which it opens one.
const (
	differentBeats = 5 // in a row, at which priorities differ
	followTask     = "have keepalived follow its tracked files"
)

// errCeded ends a watch of files so that keepalived gets its inotify instance.
var errCeded = errors.New(
	"its inotify instance is left to keepalived; files are read once a second")

// difference is how long priorities have differed.
type difference struct {
	beats   int
	at      time.Time // of the next comparison
	retry   supervised.Backoff
	reloads time.Time // not before
}

// Compare compares the instances as keepalived reports them, once a beat. It reports whether
// keepalived must reload, as it does not follow its files.
func (t *Tracks) Compare(now time.Time, reported map[string]supervised.Instance) (reload bool) {
	d := &t.different
	if !pace.Due(d.at, now) {
		return false
	}
	d.at = now.Add(pace.Beat)
	names := t.differing(reported)
	if len(names) == 0 {
		*d = difference{at: d.at, retry: supervised.AfterFailure()}
		t.tasks.Note(followTask, nil)
		select {
		case <-t.cede:
		default:
		}
		return false
	}
	if d.beats++; d.beats < differentBeats {
		return false
	}
	t.tasks.Note(followTask, fmt.Errorf(
		"the priorities of %s are not what its tracked files give: "+
			"see its log, and fs.inotify.max_user_instances", strings.Join(names, ", ")))
	if d.beats == differentBeats {
		loop.Wake(t.cede)
		return false // by the next beat it is closed
	}
	if now.Before(d.reloads) {
		return false
	}
	loop.Wake(t.cede) // for the next time, if it has been opened again
	d.reloads = now.Add(max(d.retry.Next(0), differentBeats*pace.Beat))
	return true
}

// differing are the instances whose priority is not what their tracked files give.
func (t *Tracks) differing(reported map[string]supervised.Instance) (names []string) {
	read := map[string]int{} // each file once, as most instances track the same
	number := func(path string) int {
		if _, ok := read[path]; !ok {
			read[path] = readNumber(path)
		}
		return read[path]
	}
	for _, name := range slices.Sorted(maps.Keys(t.expected)) {
		if is, ok := reported[name]; ok && t.expected[name].differs(is, number) {
			names = append(names, name)
		}
	}
	return names
}

// WatchFiles wakes the loop when a file that it reads changes, until it is to leave its inotify
// instance to keepalived.
func (t *Tracks) WatchFiles(ctx context.Context, wake chan<- struct{}) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var paths []string
	for _, name := range []string{supervised.CandidateFile, supervised.CandidateText,
		supervised.LeaveFile, supervised.UnservedFile} {
		paths = append(paths, filepath.Join(t.runDir, name))
	}
	ended := make(chan error, 1)
	go func() { ended <- file.Watch(ctx, paths, wake) }()
	select {
	case err := <-ended:
		return err
	case <-t.cede:
		stop()
		<-ended
		return errCeded
	}
}
