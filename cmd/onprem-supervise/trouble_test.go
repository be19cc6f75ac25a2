package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// untilLogged waits until the log has a text.
func (s *supervisor) untilLogged(what string, bound time.Duration) {
	s.t.Helper()
	await(s.t, "the log has no "+what, bound, func() bool {
		return s.log.count(what) > 0
	})
}

// TestTroubles_Clean has keepalived end while the supervisor may open no file, so that it cannot
// remove the VIPs. Once it can, no task fails any more, and the status shows that.
func TestTroubles_Clean(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, logged string
		kill         func(*supervisor)
	}{
		{"its VRRP process", "VRRP process ended",
			func(s *supervisor) { syscall.Kill(s.vrrpPID(), syscall.SIGKILL) }},
		{"all of it", "keepalived ended", func(s *supervisor) { s.signalAll(syscall.SIGKILL) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, s := newHolder(t)
			var normal unix.Rlimit
			pid := s.cmd.Process.Pid
			if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &normal); err != nil {
				t.Fatal(err)
			}
			if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 3, Max: normal.Max},
				nil); err != nil {
				t.Fatal(err)
			}
			tt.kill(s)
			s.untilLogged(tt.logged, 10*time.Second)
			s.untilLogged(`task="write the status"`, 10*time.Second)
			time.Sleep(time.Second) // the fault lasts for several rounds
			if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, &normal, nil); err != nil {
				t.Fatal(err)
			}
			s.untilLogged(`"succeeded again" room=shared/host/supervise task="write the status"`,
				3*time.Second)
			s.untilMaster(15 * time.Second)
			s.until("without troubles", 10*time.Second,
				func(st supervised.Status) bool { return len(st.Troubles) == 0 })
		})
	}
}

// TestTroubles_PIDFile has a pid file that cannot be removed, as it is a mount, and names no
// process: the status reports it no more once keepalived runs in spite of it.
func TestTroubles_PIDFile(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	s := newRealKeepalived(t)
	path := filepath.Join(s.dir, "vrrp.pid")
	put(t, path, "4000000\n")
	if err := unix.Mount(path, path, "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		<-s.ended
		if err := unix.Unmount(path, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	s.start(l.host)
	s.propose(fast(s.dir))
	s.untilMaster(10 * time.Second)
	s.untilLogged("remove old pid files", 10*time.Second)
	s.until("without troubles", 5*time.Second,
		func(st supervised.Status) bool { return len(st.Troubles) == 0 })
}

// TestStay_Unwritable ends a request to leave while the host's demotion cannot be undone: until it
// can, the status reports that the host leaves, and why.
func TestStay_Unwritable(t *testing.T) {
	t.Parallel()
	_, _, s := newHolder(t)
	leave := filepath.Join(s.dir, supervised.LeaveFile)
	track := filepath.Join(s.dir, supervised.TrackDir, supervised.LeaveTrack)
	if err := os.Mkdir(filepath.Dir(track)+"/away", 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, leave, "")
	s.until("asked", 10*time.Second,
		func(st supervised.Status) bool { return st.Leaving == supervised.Asked })
	if err := os.Remove(track); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(track+"/full", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(leave); err != nil {
		t.Fatal(err)
	}
	s.until("the status has the failing task", 10*time.Second, func(st supervised.Status) bool {
		return len(st.Troubles) == 1 && strings.HasPrefix(st.Troubles[0],
			"follow the request to leave: ")
	})
	time.Sleep(1500 * time.Millisecond)
	if st := s.status(); st.Leaving != supervised.Asked || len(st.Troubles) != 1 {
		t.Errorf("the demotion is not undone, and the status is %+v", st)
	}
	if err := os.RemoveAll(track); err != nil {
		t.Fatal(err)
	}
	s.until("it stays", 10*time.Second,
		func(st supervised.Status) bool {
			return st.Leaving == supervised.Stays &&
				len(st.Troubles) == 0
		})
	if text, err := os.ReadFile(track); err != nil || string(text) != "0\n" {
		t.Errorf("its demotion is %q, %v", text, err)
	}
}
