// Package abandoned removes what a host's speaker has left on it when it ended without order, and
// does not come back: VIPs of the loopback interface, which nothing there serves for long.
package abandoned

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/link/loopback"
	"github.com/onprem-infra/onprem-infra/shared/host/speakdir"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// Options are what a watch needs.
type Options struct {
	Dir  speakdir.Dir
	VIPs []netip.Addr // that a speaker may have left
	Log  *slog.Logger
}

const (
	// every is the time between two probes for a speaker.
	every = time.Second
	// patience is how long one may be away: its container starts anew within seconds, unless it
	// has failed several times, or is no more.
	patience = speakdir.Silence
)

// Watch runs in another process than the speaker's, in its host's network. If no speaker has lived
// for some seconds it removes the VIPs from the loopback interface: their routes went with its
// daemons, and only the host itself reaches them there, whether it serves them or not. It needs
// CAP_NET_ADMIN, and returns nil when ctx ends.
func Watch(ctx context.Context, o Options) error {
	w := watcher{Options: o}
	for ctx.Err() == nil {
		if err := w.watch(time.Now()); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(every):
		}
	}
	return nil
}

// watcher watches for the speaker's end.
type watcher struct {
	Options
	since   time.Time // when the speaker was first missed; zero while it lives
	removed bool      // since then
}

// watch does what is due.
func (w *watcher) watch(now time.Time) error {
	// A speaker has the lock as long as it lives, and waits for it before it begins.
	unlock, lives, err := w.lock()
	if err != nil {
		return fmt.Errorf("probe for the speaker: %w", err)
	}
	defer unlock()
	switch {
	case lives:
		w.since, w.removed = time.Time{}, false
		return nil
	case w.since.IsZero():
		w.since = now
	}
	if w.removed || now.Sub(w.since) < patience {
		return nil
	}
	w.removed = true
	return w.remove()
}

// lock takes the speaker's lock, so that none starts meanwhile. lives: a speaker has it.
func (w *watcher) lock() (unlock func(), lives bool, err error) {
	once, cancel := context.WithCancel(context.Background())
	cancel()
	unlock, err = file.Lock(once, w.Dir.At(spoken.LockFile))
	switch {
	case errors.Is(err, context.Canceled):
		return func() {}, true, nil
	case errors.Is(err, fs.ErrNotExist): // without the directory none has ever lived
		return func() {}, false, nil
	}
	return unlock, false, err
}

func (w *watcher) remove() error {
	held, err := loopback.Held(w.VIPs)
	if err != nil {
		return err
	}
	var wrong []error
	for _, vip := range held {
		if err := loopback.Remove(vip); err != nil {
			wrong = append(wrong, err)
			continue
		}
		w.Log.Error("remove address from the loopback interface", "address", vip, "why",
			"its speaker has ended, and does not come back")
	}
	return errors.Join(wrong...)
}
