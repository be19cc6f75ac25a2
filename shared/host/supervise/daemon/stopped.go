package daemon

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/host/proc"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/pace"
	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// shortest is the least time between two reads: that between two adverts of the profile fast.
const shortest = 50 * time.Millisecond

// watchStops reads once an advert, and no faster than shortest, whether a signal has stopped
// keepalived's processes, until its VRRP process has ended. It wakes the loop, which continues
// them. Where adverts are more frequent than beats, other routers would take the VIP before the
// next beat, and it would have dual holders when the first one goes on.
func (d *Daemon) watchStops(parentPID, vrrpPID int, done <-chan struct{}) {
	ticks, err := newMetronome(done)
	if err != nil {
		d.Log.Error("check keepalived every advert", "error", err)
		return
	}
	parent, errParent := proc.OpenStat(parentPID)
	vrrp, errVRRP := proc.OpenStat(vrrpPID)
	if errParent == nil {
		defer parent.Close()
	}
	if errVRRP == nil {
		defer vrrp.Close()
	}
	if errParent != nil || errVRRP != nil {
		return // it has ended, and its end is noticed
	}
	for {
		pause := max(time.Duration(d.advert.Load()), shortest)
		if pause < pace.Beat && (parent.Held() || vrrp.Held()) {
			loop.Wake(d.stopped)
		}
		if !ticks.wait(min(pause, pace.Beat)) {
			return
		}
	}
}

// metronome is a timer of the kernel (timerfd). For each timer of Go's own the runtime wakes a
// second thread, which finds nothing to do: ten times a second that is a quarter of all processor
// time that this program needs.
type metronome struct {
	clock *os.File
	pause time.Duration
	count []byte
}

// newMetronome makes a clock that ends when a channel is closed.
func newMetronome(end <-chan struct{}) (*metronome, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make a clock: %w", err)
	}
	m := &metronome{clock: os.NewFile(uintptr(fd), "clock"), count: make([]byte, 8)}
	go func() {
		<-end
		_ = m.clock.Close() // which ends a wait
	}()
	return m, nil
}

// wait returns at the clock's next tick, of which there is one in each pause. It reports false
// when the clock has ended or fails.
func (m *metronome) wait(pause time.Duration) bool {
	if pause != m.pause {
		conn, err := m.clock.SyscallConn()
		if err != nil {
			return false
		}
		every := unix.NsecToTimespec(int64(pause))
		timer := &unix.ItimerSpec{Interval: every, Value: every}
		var set error
		if err := conn.Control(func(fd uintptr) {
			set = unix.TimerfdSettime(int(fd), 0, timer, nil)
		}); err != nil || set != nil {
			return false
		}
		m.pause = pause
	}
	_, err := m.clock.Read(m.count)
	return err == nil
}
