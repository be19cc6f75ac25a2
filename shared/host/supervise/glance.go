package supervise

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/host/proc"
)

// shortest is the least time between two glances: there are no faster adverts.
const shortest = 100 * time.Millisecond

// glance looks every advert whether a signal has stopped a daemon, until its VRRP process has
// ended, and wakes the loop, which continues it. Where adverts follow each other faster than beats,
// others would have taken the VIP by the next beat, and it would have two holders when the first
// one goes on.
func (s *supervisor) glance(d *daemon, speaker *proc.Process, gone <-chan struct{}) {
	ticks, err := newMetronome(gone)
	if err != nil {
		s.Log.Error("look after keepalived every advert", "error", err)
		return
	}
	parent, errParent := proc.OpenStat(d.pid)
	child, errChild := proc.OpenStat(speaker.PID)
	if errParent == nil {
		defer parent.Close()
	}
	if errChild == nil {
		defer child.Close()
	}
	if errParent != nil || errChild != nil {
		return // it has ended, and its end is noticed
	}
	for {
		pause := max(time.Duration(s.advert.Load()), shortest)
		if pause < beat && (parent.Held() || child.Held()) {
			wake(s.stopped)
		}
		if !ticks.wait(min(pause, beat)) {
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

// wait returns at the clock's next tick, of which there is one in each pause, and says whether
// there are more.
func (m *metronome) wait(pause time.Duration) bool {
	if pause != m.pause {
		conn, err := m.clock.SyscallConn()
		if err != nil {
			return false
		}
		every := unix.NsecToTimespec(int64(pause))
		var set error
		if err := conn.Control(func(fd uintptr) {
			set = unix.TimerfdSettime(int(fd), 0, &unix.ItimerSpec{Interval: every, Value: every}, nil)
		}); err != nil || set != nil {
			return false
		}
		m.pause = pause
	}
	_, err := m.clock.Read(m.count)
	return err == nil
}
