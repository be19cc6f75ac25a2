package main

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// onSmallDisk gives a supervisor a run directory on a file system of its own. fill leaves no room
// in it, neither for a file nor for a byte, also when something makes room; free ends that.
func (s *supervisor) onSmallDisk() (fill func() (free func())) {
	s.t.Helper()
	if err := unix.Mount("tmpfs", s.dir, "tmpfs", 0, "size=256k,nr_inodes=64"); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		<-s.ended
		if err := unix.Unmount(s.dir, unix.MNT_DETACH); err != nil {
			s.t.Error(err)
		}
	})
	return func() func() {
		s.t.Helper()
		big, err := os.Create(filepath.Join(s.dir, "big"))
		if err != nil {
			s.t.Fatal(err)
		}
		made := []string{big.Name()}
		for {
			f, err := os.CreateTemp(s.dir, "small")
			if err != nil {
				break
			}
			made = append(made, f.Name())
			f.Close()
		}
		stop, stopped, full := make(chan struct{}), make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			defer big.Close()
			tick := time.NewTicker(time.Millisecond)
			defer tick.Stop()
			for once := sync.OnceFunc(func() { close(full) }); ; {
				for err := error(nil); err == nil; {
					_, err = big.Write(make([]byte, 4096))
				}
				once()
				select {
				case <-stop:
					return
				case <-tick.C:
				}
			}
		}()
		<-full
		free := sync.OnceFunc(func() {
			close(stop)
			<-stopped
			for _, path := range made {
				os.Remove(path)
			}
		})
		s.t.Cleanup(free)
		return free
	}
}

// withBonus gives an instance of config the holder's bonus.
func withBonus(text, dir, instance string) string {
	track := "track_file holder_" + instance + " {\n    file " + filepath.Join(dir,
		supervised.HolderTrack(instance)) + "\n    weight 10\n}\n"
	at := strings.Index(text, "vrrp_instance")
	text = text[:at] + track + text[at:]
	head, rest, _ := strings.Cut(text, "vrrp_instance "+instance+" {")
	return head + "vrrp_instance " + instance + " {" + strings.Replace(rest, "track_file {\n",
		"track_file {\n        holder_"+instance+"\n", 1)
}

// untilBonus waits until an instance's tracked file has a text.
func (s *supervisor) untilBonus(instance, text string) {
	s.t.Helper()
	for end := time.Now().Add(3 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		got, err := os.ReadFile(filepath.Join(s.dir, supervised.HolderTrack(instance)))
		if err == nil && string(got) == text {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("the holder's file of %s is %q, %v; want %q", instance, got, err, text)
		}
	}
}

// TestFullRunDirectory_Holder fills the run directory beside a holder: changes of state, a release
// and a takeover go on, and the status reports the states and the tasks that fail.
func TestFullRunDirectory_Holder(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	s := newRealKeepalived(t)
	fill := s.onSmallDisk()
	s.start(l.host)
	s.propose(withBonus(fast(s.dir), s.dir, "demo_API_0"))
	s.untilMaster(10 * time.Second)
	free := fill()
	l.host.IP(t, "link set ens3 down\n")
	s.untilState("demo_API_0", supervised.Fault, 10*time.Second)
	s.untilBonus("demo_API_0", "-1\n")
	l.host.IP(t, "link set ens3 up\naddr replace 2001:db8::10/64 dev ens3 nodad\n")
	s.until("master with its bonus", 10*time.Second, func(st supervised.Status) bool {
		i := st.Instances["demo_API_0"]
		return i.State == supervised.Master && i.Priority == 80
	})
	if st := s.status(); st.Restarts != 0 {
		t.Errorf("%d restarts", st.Restarts)
	}
	free()
	s.propose(fast(s.dir) + "# other\n")
	s.until("other", 10*time.Second, func(st supervised.Status) bool {
		return st.Refused == nil &&
			len(st.Troubles) == 0
	})
}

// TestFullRunDirectory_Start starts on the files of an earlier run in a run directory without room:
// the VIPs are taken over, and released at the end.
func TestFullRunDirectory_Start(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	held := l.watch(t)
	s, again := newRealKeepalived(t), newRealKeepalived(t)
	fill := s.onSmallDisk()
	s.start(l.host)
	s.propose(fast(s.dir))
	s.untilMaster(10 * time.Second)
	s.cmd.Process.Kill()
	<-s.ended
	fill()
	for i, arg := range again.cmd.Args {
		again.cmd.Args[i] = strings.NewReplacer(again.dir, s.dir, again.config,
			s.config).Replace(arg)
	}
	again.dir, again.config = s.dir, s.config
	begin := time.Now()
	again.start(l.host)
	held.until(t, "without what is left", 5*time.Second, 0)
	held.until(t, "with both VIPs", 10*time.Second, 2)
	t.Logf("both VIPs after %s", time.Since(begin))
	again.untilMaster(10 * time.Second)
	if err := syscall.Kill(again.vrrpPID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	await(t, "the end of keepalived's VRRP process was not noticed", 5*time.Second, func() bool {
		return again.log.count("VRRP process ended") > 0
	})
	again.untilMaster(10 * time.Second)
	again.cmd.Process.Signal(unix.SIGTERM)
	held.until(t, "without the VIPs", 5*time.Second, 0)
	if code := again.wait(5 * time.Second); code != 0 {
		t.Errorf("exit status %d", code)
	}
}
