package supervise

import (
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/host/first"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/instances"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/orphans"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/protocol"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// idle is a supervisor without a FIFO, files and a running keepalived.
func idle(t *testing.T, command ...string) *supervisor {
	t.Helper()
	s, err := newSupervisor(t.Context(), Options{RunDir: t.TempDir(), Command: command,
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRoundBound holds that the health port waits for the longest round.
func TestRoundBound(t *testing.T) {
	if longest := drainBound + 2*hung + linger; longest >= first.RoundBound {
		t.Errorf("a round takes %s, more than %s", longest, first.RoundBound)
	}
}

// TestDue_Past holds that what has failed in a round waits for the next beat, and that what has
// come due since then does not.
func TestDue_Past(t *testing.T) {
	for _, tt := range []struct {
		name    string
		since   time.Duration // the round
		at      func(s *supervisor, now time.Time)
		waiting bool
	}{
		{"a start that failed", time.Millisecond,
			func(s *supervisor, _ time.Time) { s.daemon.Forget(0) }, true},
		{"a release that failed", 0, func(s *supervisor, now time.Time) {
			s.status.Leaving,
				s.releaseBy = supervised.Asked, now
		}, true},
		{"a start that has come due", -10 * time.Millisecond,
			func(s *supervisor, _ time.Time) { s.daemon.Forget(0) }, false},
	} {
		s := idle(t)
		s.candidates.running = "a"
		tt.at(s, time.Now())
		s.roundAt = time.Now().Add(tt.since)
		patience := 10 * time.Second
		if tt.waiting {
			patience = 200 * time.Millisecond
		}
		select {
		case <-s.due(time.Time{}):
			if tt.waiting {
				t.Errorf("%s is tried again at once", tt.name)
			}
		case <-time.After(patience):
			if !tt.waiting {
				t.Errorf("%s waits", tt.name)
			}
		}
	}
}

// TestReceive_SuccessorFirst receives a report of the next VRRP process before the end of the
// former one is noticed: the report is kept, and the end does not undo it. FAKE: a shell in place
// of keepalived.
func TestReceive_SuccessorFirst(t *testing.T) {
	dir := t.TempDir()
	s := idle(t, "sh", "-c", "sleep 60 & echo $! >"+dir+"/vrrp.pid; wait; sleep 60")
	s.RunDir, s.daemon.RunDir = dir, dir
	fifo := &strings.Builder{}
	if err := s.daemon.Start(t.Context(), fifo, "a", time.Now()); err != nil ||
		!s.daemon.Running() {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.daemon.Kill() })
	s.receive(strings.TrimSpace(fifo.String()))
	pid := 0
	for deadline := time.Now().Add(10 * time.Second); pid == 0 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		text, _ := os.ReadFile(filepath.Join(dir, "vrrp.pid"))
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
	}
	s.receive(`INSTANCE "demo_API_0" MASTER 70`)
	done := s.daemon.VRRPDone()
	if done == nil || s.status.Instances["demo_API_0"].State != supervised.Master {
		t.Fatalf("while it lives: %+v", s.status.Instances)
	}
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-done
	for !s.daemon.VRRPReplaced() { // until the shell has reaped it
		time.Sleep(time.Millisecond)
	}
	s.receive(`INSTANCE "demo_API_0" BACKUP 70`)
	if s.daemon.VRRPDone() == done {
		t.Error("its end is still to be noticed, and will undo what the next one has reported")
	}
	if got := s.status.Instances["demo_API_0"].State; got != supervised.Backup {
		t.Errorf("the next one is %s", got)
	}
}

// TestScanOrphans_Unread has keepalived report that it is MASTER a moment before a scan: its VIP is no
// orphan though the report has not been received yet, and is one after its report of a release. FAKE: a shell in place of keepalived, and the test writes its reports.
func TestScanOrphans_Unread(t *testing.T) {
	ns := netns.New(t)
	ns.IP(t, "link set lo up\naddr add 192.0.2.5/32 dev lo\n")
	s, vip := idle(t, "sh", "-c", "exec sleep 60"), netip.MustParseAddr("192.0.2.5")
	s.orphans = orphans.New([]netip.Addr{vip}, s.Log, s.tasks, s.sessions)
	s.instances.SetOrder(protocol.Order{VIPs: map[string]netip.Addr{"demo_API_0": vip}})
	fifo, err := instances.OpenFIFO(filepath.Join(s.RunDir, supervised.NotifyFIFO))
	if err != nil {
		t.Fatal(err)
	}
	s.events.fifo = fifo
	defer fifo.Close()
	if err := s.daemon.Start(t.Context(), fifo, "a", time.Now()); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.daemon.Kill() }()
	go instances.ReadLines(t.Context(), fifo, s.events.lines)
	for _, tt := range []struct {
		state string
		want  bool
	}{{"MASTER", true}, {"BACKUP", false}} {
		if err := ns.In(func() error {
			if err := s.orphans.Scan(time.Now(), nil); err != nil {
				return err
			}
			if _, err := fmt.Fprintf(fifo, "INSTANCE \"demo_API_0\" %s 70\n", tt.state); err != nil {
				return err
			}
			later := time.Now().Add(10 * time.Second)
			if err := s.scanOrphans(later); err != nil {
				return err
			}
			_, held, err := link.Holder(vip)
			if held != tt.want {
				t.Errorf("after the report of %s: the VIP is here: %t", tt.state, held)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
}
