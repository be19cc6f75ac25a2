package fabric

import (
	"context"
	"net/netip"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/host/speakdir"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// asMonitor is a variable of the environment: a process that has it is a monitor, with this directory.
const asMonitor = "ONPREM_INFRA_TEST_MONITOR"

// TestMain runs the tests or, in a process of its own, a monitor that wants what the file has by then: how it ends is
// tested.
func TestMain(m *testing.M) {
	if dir, ok := os.LookupEnv(asMonitor); ok {
		os.Exit(monitors(speakdir.Dir(dir)))
	}
	os.Exit(m.Run())
}

// monitors wants the same until SIGTERM, and ends in order then.
func monitors(dir speakdir.Dir) (code int) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	m := speakdir.Monitor{Dir: dir}
	text, err := os.ReadFile(dir.At(spoken.WishFile))
	for wish, errWish := spoken.Decode[spoken.Wish](text); ; {
		wish.Beat = time.Now()
		if err != nil || errWish != nil || m.Wish(wish) != nil {
			return 1
		}
		select {
		case <-ctx.Done():
			if m.End() != nil {
				return 1
			}
			return 0
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// monitor starts a monitor of the node in a process of its own, in the place of the FAKE one.
func (n *Node) monitor() (end func(syscall.Signal)) {
	n.f.t.Helper()
	n.EndMonitor()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asMonitor+"="+n.Dir)
	n.f.must(cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	n.f.t.Cleanup(func() { _ = cmd.Process.Kill() }) // it may have ended
	until(n.f.t, "the monitor of "+n.Name+" works", 20*time.Second, func() bool {
		_, err := os.Stat(filepath.Join(n.Dir, spoken.MonitorFile))
		return err == nil && n.Status().Monitor == spoken.Works
	})
	return func(s syscall.Signal) {
		n.f.t.Helper()
		n.f.must(cmd.Process.Signal(s))
		if err := <-ended; s == syscall.SIGTERM && err != nil {
			n.f.t.Errorf("the monitor of %s: %v", n.Name, err)
		}
	}
}

// TestSpeaker_Monitor holds what a host announces when its monitor ends: one that ends in order leaves all as it
// is; one that is killed has its host behind all others at once, and after ten seconds without another one the host
// leaves; where all are killed all announce alike. No client is refused in any of that.
func TestSpeaker_Monitor(t *testing.T) {
	t.Parallel()
	f, n := pair(t)
	end, other := n[0].monitor(), n[1].monitor()
	f.unharmed(VIP4, "a monitor is replaced", func() {
		end(syscall.SIGTERM)
		lost := 0
		for begun := time.Now(); time.Since(begun) < 3*time.Second; time.Sleep(20 * time.Millisecond) {
			if phase, ways := n[0].phase(VIP4), f.Nexthops(f.Spine, VIP4); phase != speak.Announced || len(ways) != 2 {
				if lost++; phase != speak.Announced || lost > 3 {
					t.Fatalf("a monitor has ended in order, and after %v it is %s, by %v", time.Since(begun), phase, ways)
				}
				f.spread(VIP4, 2, 1) // a busy machine may end a session for a moment
				begun = time.Now()
			}
		}
		end = n[0].monitor()
	})
	f.unharmed(VIP4, "a monitor is killed", func() {
		begun := time.Now()
		end(syscall.SIGKILL)
		moved := until(t, "the spine prefers the other node", 5*time.Second, func() bool { return len(f.Nexthops(f.Spine, VIP4)) == 1 })
		if t.Logf("the spine prefers the other node after %v", moved); moved > 2*time.Second {
			t.Errorf("the spine prefers the other node after %v", moved)
		}
		until(t, "its rack's router prefers it too", 5*time.Second, func() bool { return n[0].announces(VIP4) == 8 })
		if behind := time.Since(begun); behind > speak.Silence/2 { // a step each 0.4 s
			t.Errorf("it is behind all others after %v", behind)
		} else {
			t.Logf("it is behind all others after %v", behind)
		}
		if s := n[0].Status(); s.Monitor != spoken.Died || n[0].phase(VIP4) != speak.Demoted || !n[0].held(VIP4) {
			t.Errorf("%+v", s)
		}
		end = n[0].monitor()
	})
	f.spread(VIP4, 2, 1)
	f.unharmed(VIP4, "a monitor is killed, and stays away", func() {
		end(syscall.SIGKILL)
		begun := time.Now()
		until(t, "the host leaves", 20*time.Second, func() bool { return n[0].phase(VIP4) == speak.Withdrawn })
		if after := time.Since(begun); after < speak.Silence-time.Second {
			t.Errorf("the host leaves after %v", after)
		}
		until(t, "it has left", 10*time.Second, func() bool { return n[0].phase(VIP4) == speak.Idle && !n[0].held(VIP4) })
	})
	end = n[0].monitor()
	f.spread(VIP4, 2, 1)
	f.unharmed(VIP4, "all monitors are killed", func() {
		end(syscall.SIGKILL)
		other(syscall.SIGKILL)
		until(t, "all are behind, and alike", 6*time.Second, func() bool {
			return n[0].announces(VIP4) == 8 && n[1].announces(VIP4) == 8 && len(f.Nexthops(f.Spine, VIP4)) == 2
		})
		n[0].monitor()
		n[1].monitor()
	})
	f.spread(VIP4, 2, 1)
}

// announces is the grade with which the node announces a VIP; -1 for none.
func (n *Node) announces(vip netip.Addr) bgp.Grade {
	for _, v := range n.Status().VIPs {
		if v.VIP == vip {
			return v.Grade
		}
	}
	return -1
}
