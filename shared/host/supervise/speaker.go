package supervise

import (
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/host/proc"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// follow holds on to the process that speaks VRRP, once keepalived has named it. Its death leaves
// the VIP behind, and keepalived starts another one only after a pause that grows.
func (s *supervisor) follow() {
	d := s.daemon
	if d.speaker != nil {
		return
	}
	pid, ok := s.speakerPID()
	if !ok {
		return // not there yet: the next word will find it
	}
	speaker, err := proc.Open(pid)
	if err != nil {
		return
	}
	if group, err := unix.Getpgid(pid); err != nil || group != d.pid {
		speaker.Close()
		return
	}
	if s.RealTime {
		if err := speaker.RealTime(); err != nil {
			s.Log.Warn("keepalived's VRRP process stays as it is", "error", err)
		}
	}
	gone := make(chan struct{})
	d.speaker, d.vrrpGone, d.pulse, d.beatAt = speaker, gone, pulse{}, time.Now().Add(beat)
	s.servants.Go(func() {
		defer close(gone)
		defer speaker.Close()
		if err := speaker.Wait(s.servants.ctx); err != nil && s.servants.ctx.Err() == nil {
			s.Log.Error("follow keepalived's VRRP process", "error", err)
		}
	})
	s.servants.Go(func() { s.glance(d, speaker, gone) })
}

// bereaved takes the VIPs off when nobody speaks VRRP for them any more.
func (s *supervisor) bereaved() {
	s.daemon.speaker, s.daemon.vrrpGone, s.daemon.spoke, s.daemon.pulse = nil, nil, false, pulse{}
	if s.daemon.ended() {
		return // the next turn buries it
	}
	s.Log.Error("keepalived's VRRP process ended")
	s.removeVIPs("its VRRP process ended")
	s.forget()
}

// speakerPID is the process that keepalived has named, or its only child: keepalived goes on
// without a word where there is no room for the name.
func (s *supervisor) speakerPID() (int, bool) {
	if text, err := os.ReadFile(s.vrrpPIDFile()); err == nil {
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			return pid, true
		}
	}
	children, err := proc.Children(s.daemon.pid)
	if err != nil || len(children) != 1 {
		return 0, false
	}
	return children[0], true
}

// succeeded notices the end of the process that speaks VRRP by what its successor says, which may
// be heard before the end is: what the successor says holds, and must not be forgotten with the one
// before.
func (s *supervisor) succeeded() {
	if s.daemon.speaker == nil || s.daemon.speaker.Signal(unix.Signal(0)) == nil {
		return
	}
	s.bereaved()
}

// feel helps a keepalived that has been stopped, and kills one that hangs: it neither announces its
// VIPs nor gives them up, and others take them. The parent of the process that speaks VRRP has
// nothing to do, but must hear signals. One that a debugger holds is killed like any other: as long
// as it lives it may hold a VIP that others have taken. (The monitor spares a supervisor that a
// debugger holds, as keepalived goes on beside it.)
func (s *supervisor) feel(now time.Time) error {
	d := s.daemon
	if d == nil || now.Add(along).Before(d.beatAt) {
		return nil
	}
	d.beatAt = now.Add(beat)
	found := sign{held: proc.Held(d.pid), mute: !d.spoke && s.order.instances > 0, busy: s.busy()}
	if d.speaker != nil {
		cpu, err := d.speaker.CPU()
		if err != nil {
			return nil // what has no clock has ended, and its end is noticed
		}
		found.cpu, found.held = cpu, found.held || proc.Held(d.speaker.PID)
	}
	switch d.pulse.feel(found) {
	case goOn:
		s.Log.Error("continue keepalived", "why", "a signal has stopped it")
		return s.children.signalAll(d.child, unix.SIGCONT)
	case end:
		p := d.pulse
		s.Log.Error("kill keepalived", "why", "its VRRP process does nothing", "stopped_by_signal", found.held, "beats", max(p.held, p.still, p.mute))
		return s.children.kill(d.child)
	}
	return nil
}

// busy says whether some instance must be sending or hearing adverts.
func (s *supervisor) busy() bool {
	for _, i := range s.status.Instances {
		if i.State == supervised.Master || i.State == supervised.Backup {
			return true
		}
	}
	return false
}
