package orphans

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/protocol"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/sessions"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// The pauses between two probes for a supervisor.
const (
	missed = 20 * time.Millisecond  // that has just ended
	absent = 500 * time.Millisecond // that has been away for long
)

// Outlive runs in another process than the supervisor's. It sees to it that no VIP outlives a
// supervisor that was killed together with its keepalived: the supervisor comes back when its
// container does, which may take from a second to minutes, and meanwhile the VIP would have dual
// holders. The VIP stays until another router must have taken it: what is served here is served
// on. A VIP for which no other router is known stays too. Outlive returns nil when ctx ends.
func Outlive(ctx context.Context, runDir string, log *slog.Logger) error {
	w := watcher{runDir: runDir, log: log}
	for ctx.Err() == nil {
		pause, err := w.watch(ctx)
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	return nil
}

// watcher watches for the supervisor's end.
type watcher struct {
	runDir   string
	log      *slog.Logger
	proposal protocol.Proposal

	since   time.Time // when the supervisor was first missed; zero while it lives
	removed bool      // since then
}

// watch waits for the supervisor's end while it lives, and does what is due while it does not. It
// returns the pause before it is called again.
func (w *watcher) watch(ctx context.Context) (time.Duration, error) {
	// The supervisor reads the FIFO as long as it lives, and no other process does.
	fifo, err := os.OpenFile(filepath.Join(w.runDir, supervised.NotifyFIFO),
		os.O_WRONLY|unix.O_NONBLOCK, 0)
	switch {
	case err == nil:
		w.since, w.removed = time.Time{}, false
		return 0, untilUnread(ctx, fifo)
	case !errors.Is(err, unix.ENXIO) && !errors.Is(err, fs.ErrNotExist):
		return 0, fmt.Errorf("probe for the supervisor: %w", err)
	}
	now := time.Now()
	if w.since.IsZero() {
		w.since = now
	}
	if w.removed {
		return absent, nil
	}
	vips, outlives, err := w.contested()
	if err != nil {
		return 0, err
	}
	if left := w.since.Add(outlives).Sub(now); left > 0 {
		return min(left, missed), nil
	}
	w.removed = true
	return absent, w.remove(vips)
}

// contested are the VIPs that another router may hold, and how long they may stay: by what
// keepalived ran, as the supervisor may have refused or not yet loaded what was proposed since; and
// by what was proposed, for a supervisor of an earlier release, whose status has no VIPs. Either of
// the two is enough if the other one cannot be read.
func (w *watcher) contested() (vips []netip.Addr, outlives time.Duration, err error) {
	ran, unread := w.ran()
	c, err := w.proposal.Read(w.runDir)
	if err = errors.Join(err, c.Invalid); err != nil && len(ran.Contested) == 0 {
		return nil, 0, fmt.Errorf("read what keepalived was to do: %w", errors.Join(err, unread))
	}
	order := protocol.OrderOf(c.Config)
	vips = append(order.Contested(), ran.Contested...)
	slices.SortFunc(vips, netip.Addr.Compare)
	return slices.Compact(vips), cmp.Or(ran.Outlives, order.Outlives), nil
}

// ran is the supervisor's last status; the zero Status before the first.
func (w *watcher) ran() (supervised.Status, error) {
	text, err := os.ReadFile(filepath.Join(w.runDir, supervised.StatusFile))
	if errors.Is(err, fs.ErrNotExist) {
		return supervised.Status{}, nil
	}
	if err != nil {
		return supervised.Status{}, err
	}
	return supervised.Decode(text)
}

// remove removes VIPs, and then ends the connections from them.
func (w *watcher) remove(vips []netip.Addr) error {
	var failed error
	var gone []netip.Addr
	for _, vip := range vips {
		removed, err := link.RemoveAddress(vip)
		failed = errors.Join(failed, err)
		if len(removed) > 0 {
			gone = append(gone, vip)
			w.log.Error("remove address", "address", removed, "why",
				"its supervisor has ended, and another router must have taken it")
		}
	}
	for _, vip := range gone {
		if _, err := sessions.Reset(vip); err != nil {
			w.log.Warn("reset the VIP's sessions", "vip", vip, "error", err)
		}
	}
	return failed
}

// untilUnread returns when no process reads a FIFO any more, or ctx has ended, and closes it.
func untilUnread(ctx context.Context, fifo *os.File) error {
	defer fifo.Close()
	stop := context.AfterFunc(ctx, func() { fifo.SetWriteDeadline(time.Unix(1, 0)) })
	defer stop()
	raw, err := fifo.SyscallConn()
	if err != nil {
		return fmt.Errorf("wait for the supervisor's end: %w", err)
	}
	unread := func(fd uintptr) bool {
		poll := []unix.PollFd{{Fd: int32(fd)}}
		_, err := unix.Poll(poll, 0)
		return err == nil && poll[0].Revents != 0 // only an error, which is always reported
	}
	if err := raw.Write(unread); err != nil && ctx.Err() == nil {
		return fmt.Errorf("wait for the supervisor's end: %w", err)
	}
	return nil
}
