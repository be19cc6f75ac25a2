package daemon

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/host/proc"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/pace"
)

// mark begins a line that comes after all that keepalived has reported.
const mark = "MARK "

// NextMark is a line for the FIFO. Once it comes back, all that keepalived reported before it was
// written has been received.
func (d *Daemon) NextMark() string {
	d.marks++
	return mark + strconv.Itoa(d.marks)
}

// Reported takes a line from the FIFO and reports whether it is to be read: it is keepalived's own,
// and no START line or mark.
func (d *Daemon) Reported(line string) bool {
	switch {
	case d.run == nil || strings.HasPrefix(line, mark):
		return false // of one that has ended, or ours
	case line == startLine(d.starts-1):
		d.run.ownLines = true
		return false
	}
	return d.run.ownLines
}

// NoteReport notes that keepalived has reported: its VRRP process runs, and can be found.
func (d *Daemon) NoteReport() {
	d.run.reported = true
	d.followVRRP()
}

// follow is a task.
const follow = "follow keepalived's VRRP process"

// followVRRP finds the process that advertises, once keepalived has named it. Its end leaves the
// VIP behind, and keepalived starts another one only after a pause that grows.
func (d *Daemon) followVRRP() {
	r := d.run
	if r.vrrp != nil {
		return
	}
	pid, ok := d.vrrpPID()
	if !ok {
		return // not there yet
	}
	vrrp, err := proc.Open(pid)
	if errors.Is(err, os.ErrProcessDone) {
		return
	}
	d.Tasks.Note(follow, err)
	if err != nil {
		return
	}
	if group, err := unix.Getpgid(pid); err != nil || group != r.PID {
		vrrp.Close()
		return
	}
	if d.RealTime {
		if err := vrrp.RealTime(); err != nil {
			d.Log.Warn("keepalived's VRRP process stays as it is", "error", err)
		}
	}
	done := make(chan struct{})
	r.vrrp, r.vrrpDone, r.activity, r.checkAt = vrrp, done, activity{}, time.Now().Add(pace.Beat)
	d.Tasks.Go(func(ctx context.Context) {
		defer close(done)
		defer vrrp.Close()
		if err := vrrp.Wait(ctx); err != nil && ctx.Err() == nil {
			d.Log.Error(follow, "error", err)
		}
	})
	d.Tasks.Go(func(context.Context) { d.watchStops(r.PID, pid, done) })
}

// vrrpPID is the process that keepalived has named, or its only child: keepalived goes on and
// names none where there is no room for a file.
func (d *Daemon) vrrpPID() (int, bool) {
	if text, err := os.ReadFile(d.vrrpPIDFile()); err == nil {
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			return pid, true
		}
	}
	children, err := proc.Children(d.run.PID)
	if err != nil || len(children) != 1 {
		return 0, false
	}
	return children[0], true
}

// VRRPDone is closed when keepalived's VRRP process has ended; nil while it is not known.
func (d *Daemon) VRRPDone() <-chan struct{} {
	if d.run == nil {
		return nil
	}
	return d.run.vrrpDone
}

// VRRPReplaced reports whether the known VRRP process has ended: a report is then of its
// successor. It may arrive before the end does, and must not be forgotten with earlier ones.
func (d *Daemon) VRRPReplaced() bool {
	return d.run.vrrp != nil && d.run.vrrp.Signal(unix.Signal(0)) != nil
}

// ForgetVRRP is for a VRRP process that has ended.
func (d *Daemon) ForgetVRRP() {
	d.run.vrrp, d.run.vrrpDone, d.run.reported, d.run.activity = nil, nil, false, activity{}
}

// CheckNow has the next Check not wait for the beat.
func (d *Daemon) CheckNow() {
	if d.run != nil {
		d.run.checkAt = time.Time{}
	}
}

// Check continues a keepalived that has been stopped, and kills one that hangs: it neither
// advertises its VIPs nor releases them, and other routers take them. Its parent process has
// nothing to do, but must handle signals. One that a debugger holds is killed like any other: as
// long as it lives it may hold a VIP that others have taken. (The monitor spares a supervisor that
// a debugger holds, as keepalived goes on beside it.) Active is whether an instance must be sending
// or receiving adverts, instances their number.
func (d *Daemon) Check(now time.Time, active bool, instances int) error {
	r := d.run
	if r == nil || !pace.Due(r.checkAt, now) {
		return nil
	}
	r.checkAt = now.Add(pace.Beat)
	if r.reported {
		d.followVRRP() // it may not have been found at a report
	}
	// Of a process that is not known it is not known either whether it does anything.
	found := observation{active: active && r.vrrp != nil, silent: !r.reported && instances > 0,
		stopped: proc.Held(r.PID)}
	if r.vrrp != nil {
		cpu, err := r.vrrp.CPU()
		if err != nil {
			return nil // it has ended, and its end is noticed
		}
		found.cpu, found.stopped = cpu, found.stopped || proc.Held(r.vrrp.PID)
	}
	switch r.activity.observe(found) {
	case resume:
		d.Log.Error("continue keepalived", "why", "a signal has stopped it")
		return r.SignalGroup(unix.SIGCONT)
	case killHung:
		a := r.activity
		d.Log.Error("kill keepalived", "why", "its VRRP process does nothing",
			"stopped_by_signal", found.stopped, "beats", max(a.stopped, a.idle, a.silent))
		return r.Kill()
	}
	return nil
}
