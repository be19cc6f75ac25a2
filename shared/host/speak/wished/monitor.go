package wished

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// Abandoned reports whether a monitor has died: its file is there, and no process locks it.
func Abandoned(dir string) (bool, error) {
	return file.Abandoned(filepath.Join(dir, spoken.MonitorFile))
}

// Follow wakes the loop when the monitor dies or has its lock again, until ctx ends. It polls:
// the kernel reports the end of a lock only to programs that wait for the lock. A read error is
// left to the next round.
func Follow(ctx context.Context, dir string, wake chan<- struct{}) {
	tick := time.NewTicker(speak.Notice)
	defer tick.Stop()
	for was := false; ; {
		dead, err := Abandoned(dir)
		if err == nil && dead != was {
			was = dead
			loop.Wake(wake)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Miss takes whether the monitor has died, as its lock showed before the wish was read. The death
// counts until the next heartbeat, which may be of a monitor that locks nothing.
func (w *Wish) Miss(dead bool) {
	if dead && !w.dead {
		w.last = w.Beat
	}
	w.dead = dead
}

// Died reports whether the monitor has ended without order, and no other one lives.
func (w *Wish) Died() bool { return w.dead && w.Beat.Equal(w.last) }

// Monitor is the monitor's state for the status; silent is by the decision. It logs a change.
func (w *Wish) Monitor(silent bool, log *slog.Logger) spoken.Monitor {
	is := spoken.Works
	switch {
	case silent:
		is = spoken.Silent
	case w.Died():
		is = spoken.Died
	}
	switch {
	case is == w.missed:
	case is == spoken.Works:
		log.Info("the monitor works again", "before", string(w.missed))
	case is == spoken.Died:
		log.Warn("the monitor was killed: this host goes behind all others")
	default:
		log.Warn("the monitor timed out: this host leaves VIPs to others", "bound", speak.Silence)
	}
	w.missed = is
	return is
}
