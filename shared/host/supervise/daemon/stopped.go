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

// shortest is the least time between two reads: there are no faster adverts.
const shortest = 100 * time.Millisecond

// watchStops reads once an advert whether a signal has stopped keepalived's processes, until its
// VRRP process has ended, and wakes the loop, which continues them. Where adverts follow each other
// faster than beats, other routers would take the VIP before the next beat, and it would have dual
// holders when the first one goes on.
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

// metronome is a clock of the kernel's. For each timer of its own the language's runtime wakes a
// second thread, which finds nothing to do: ten times a second that is a quarter of all that this
// program needs.
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

// wait returns at the clock's next tick, of which there is one in each pause, and reports whether
// there are more.
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
