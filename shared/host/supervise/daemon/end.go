package daemon

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/host/proc"
)

// terminate asks keepalived to end in order. One that a signal has stopped must be continued first.
func (d *Daemon) terminate(child *proc.Child) {
	if err := errors.Join(child.Signal(unix.SIGTERM), child.SignalGroup(unix.SIGCONT)); err != nil {
		d.Log.Error("stop keepalived", "error", err)
	}
}

// Terminate asks keepalived to end in order, unless the end of its context has done so.
func (d *Daemon) Terminate() {
	if d.run.cancelTERM() {
		d.terminate(d.run.Child)
	}
}

// Lives reports whether a process of keepalived's has not been reaped.
func (d *Daemon) Lives() bool { return d.run.GroupLives() }

// Kill ends all processes of keepalived.
func (d *Daemon) Kill() error { return d.run.Kill() }

// Exit logs that keepalived has ended by itself, and returns the pause before its next start.
func (d *Daemon) Exit() (startAfter time.Duration) {
	ran := time.Since(d.run.started)
	pause := d.backoff.Next(ran)
	d.Log.Error("keepalived ended", "outcome", d.run.Outcome(), "ran", ran.Round(time.Millisecond),
		"restart_in", pause)
	d.run.cancelTERM()
	d.exits++
	return pause
}

// Forget is for a keepalived of which no process is left. Another one starts after a pause.
func (d *Daemon) Forget(startAfter time.Duration) {
	d.run = nil
	d.Tasks.Note(follow, nil)
	d.startAt = time.Now().Add(startAfter)
}

// Outcome is how keepalived has ended.
func (d *Daemon) Outcome() string { return d.run.Outcome() }
