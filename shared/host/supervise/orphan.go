package supervise

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// The pauses between two looks for a supervisor.
const (
	missed = 20 * time.Millisecond  // that has just ended
	absent = 500 * time.Millisecond // that has been away for long
)

// Outlive sees to it, in another process than the supervisor's, that no VIP outlives a supervisor
// that was killed together with its keepalived: it comes back when its container does, which may
// take from a second to minutes, and all the while the VIP would have two holders. Until another
// router must have taken the VIP it stays: what is served here is served on. A VIP that no other
// router takes stays too. Outlive returns nil when ctx ends.
func Outlive(ctx context.Context, runDir string, log *slog.Logger) error {
	o := orphanage{runDir: runDir, log: log}
	for ctx.Err() == nil {
		pause, err := o.look(ctx)
		if err != nil {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
	return nil
}

// orphanage is who looks after VIPs that nobody answers for any more.
type orphanage struct {
	runDir   string
	log      *slog.Logger
	proposal proposal

	since    time.Time // when the supervisor was first missed; zero while it lives
	stripped bool      // since then
}

// look waits for the supervisor's end while it lives, and does what is due while it does not. It
// says how soon to look again.
func (o *orphanage) look(ctx context.Context) (time.Duration, error) {
	// Whoever lives reads the FIFO, and nobody else does.
	fifo, err := os.OpenFile(filepath.Join(o.runDir, supervised.NotifyFIFO), os.O_WRONLY|unix.O_NONBLOCK, 0)
	switch {
	case err == nil:
		o.since, o.stripped = time.Time{}, false
		return 0, untilUnread(ctx, fifo)
	case !errors.Is(err, unix.ENXIO) && !errors.Is(err, fs.ErrNotExist):
		return 0, fmt.Errorf("look for the supervisor: %w", err)
	}
	now := time.Now()
	if o.since.IsZero() {
		o.since = now
	}
	if o.stripped {
		return absent, nil
	}
	c, err := o.proposal.read(o.runDir)
	if err = errors.Join(err, c.wrong); err != nil {
		return 0, fmt.Errorf("read what keepalived was to do: %w", err)
	}
	order := orderOf(c.config)
	if left := o.since.Add(order.outlives).Sub(now); left > 0 {
		return min(left, missed), nil
	}
	o.stripped = true
	return absent, o.strip(order.contested())
}

// strip takes VIPs off, and then ends the sessions that spoke from them.
func (o *orphanage) strip(vips []netip.Addr) error {
	var failed error
	var gone []netip.Addr
	for _, vip := range vips {
		removed, err := link.RemoveAddress(vip)
		failed = errors.Join(failed, err)
		if len(removed) > 0 {
			gone = append(gone, vip)
			o.log.Error("remove address", "address", removed, "why", "its supervisor has ended, and another router must have taken it")
		}
	}
	for _, vip := range gone {
		if _, err := reset(vip); err != nil {
			o.log.Warn("reset the VIP's sessions", "vip", vip, "error", err)
		}
	}
	return failed
}

// untilUnread returns when nobody reads a FIFO any more, or ctx has ended, and closes it.
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
		return err == nil && poll[0].Revents != 0 // only an error is told that was not asked for
	}
	if err := raw.Write(unread); err != nil && ctx.Err() == nil {
		return fmt.Errorf("wait for the supervisor's end: %w", err)
	}
	return nil
}
