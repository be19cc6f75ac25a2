package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

func (s *supervisor) path(parts ...string) string {
	return filepath.Join(append([]string{s.dir}, parts...)...)
}

func (s *supervisor) read(parts ...string) string {
	text, _ := os.ReadFile(s.path(parts...))
	return string(text)
}

// pair is a holder and a BACKUP router, each with a supervisor and keepalived of its own. peer is
// the host that the BACKUP router advertises to: the holder, or another one. The flags are of both
// supervisors.
func pair(t *testing.T, peer int, flags ...string) (l lan, holder, other *supervisor) {
	t.Helper()
	l = newLAN(t)
	holder, other = newRealKeepalived(t), newRealKeepalived(t)
	holder.cmd.Args, other.cmd.Args = slices.Insert(holder.cmd.Args, 1, flags...),
		slices.Insert(other.cmd.Args, 1, flags...)
	holder.start(l.host)
	other.start(l.neighbour)
	holder.propose(router(holder.dir, 10, 70, "0.1", "192.0.2.11", "2001:db8::11"))
	holder.untilMaster(10 * time.Second)
	other.propose(router(other.dir, 11, 60, "0.1", fmt.Sprint("192.0.2.", peer),
		fmt.Sprint("2001:db8::", peer)))
	other.untilState("demo_API_0", supervised.Backup, 10*time.Second)
	other.untilState("demo_API_1", supervised.Backup, 10*time.Second)
	return l, holder, other
}

func left(st supervised.Status) bool { return st.Leaving == supervised.Left && st.PID == 0 }

// TestRelease_InOrder holds K-59: a holder with a request to leave holds the VIPs until another
// router has them, and only then ends. It takes over again when the request is gone.
func TestRelease_InOrder(t *testing.T) {
	t.Parallel()
	// without it the holder waits for 0.2 s longer than the other router, which a busy machine delays
	l, holder, other := pair(t, 10, "--patience", "3s")
	here, there := l.watch(t), watch(t, l.neighbour)
	here.until(t, "with both VIPs", 10*time.Second, 2)
	put(t, holder.path(supervised.LeaveFile), "")
	holder.until("asked", 10*time.Second,
		func(st supervised.Status) bool { return st.Leaving != supervised.Stays })
	there.until(t, "taken over", 10*time.Second, 2)
	took := holder.until("left", 10*time.Second, left)
	t.Logf("both VIPs over there, and %s later left here", took)
	here.until(t, "without the VIPs", 5*time.Second, 0)
	if got := holder.read(supervised.TrackDir, supervised.LeaveTrack); got != "1\n" {
		t.Errorf("the holder was not demoted before it left: %q", got)
	}
	if n := holder.log.count("no other router has taken over in time"); n != 0 {
		t.Error("it did not notice the takeover")
	}
	if st := other.status(); st.Instances["demo_API_0"].State != supervised.Master {
		t.Errorf("the other one is %+v", st.Instances)
	}
	if err := os.Remove(holder.path(supervised.LeaveFile)); err != nil {
		t.Fatal(err)
	}
	holder.untilMaster(10 * time.Second)
	if st := holder.status(); st.Leaving != supervised.Stays || st.Restarts != 0 {
		t.Errorf("back with %+v", st)
	}
}

// TestRelease_SuccessorNotReceived requests a release from a holder to which its successor does not
// advertise, as an OpenShift master does not to the bootstrap machine: there are dual holders until
// the first has waited for long enough, and then one.
func TestRelease_SuccessorNotReceived(t *testing.T) {
	t.Parallel()
	l, holder, _ := pair(t, 99)
	here, there := l.watch(t), watch(t, l.neighbour)
	here.until(t, "with both VIPs", 10*time.Second, 2)
	begin := time.Now()
	put(t, holder.path(supervised.LeaveFile), "")
	there.until(t, "taken over", 10*time.Second, 2)
	here.until(t, "without the VIPs", 4*time.Second, 0)
	t.Logf("left unheard after %s", time.Since(begin))
	holder.until("left", 10*time.Second, left)
	if !l.adverts.received(netip.MustParseAddr("192.0.2.11"), 0, begin, time.Second) {
		t.Error("no advert of priority 0 was received")
	}
}

// TestRelease_Patience requests a release from a holder that is to wait for routers which have just
// begun: it holds the VIPs for so long, and no longer.
func TestRelease_Patience(t *testing.T) {
	t.Parallel()
	const patience = 2 * time.Second // more than twice what the elections take
	l := newLAN(t)
	held, s := l.watch(t), newRealKeepalived(t)
	s.cmd.Args = slices.Insert(s.cmd.Args, 1, "--patience", patience.String())
	s.start(l.host)
	s.propose(fast(s.dir))
	s.untilMaster(10 * time.Second)
	held.until(t, "with both VIPs", 10*time.Second, 2)
	begin := time.Now()
	put(t, s.path(supervised.LeaveFile), "")
	held.until(t, "without the VIPs", patience+3*time.Second, 0)
	if took := time.Since(begin); took < patience {
		t.Errorf("it left after %v", took)
	}
	s.until("left", 10*time.Second, left)
}

// TestYieldsOnTerm holds what SIGTERM does to a holder with --yield-on-term: it holds the VIPs
// until another router has them, and if it receives no advert, no longer than after a request to
// leave. A router without a VIP ends at once. The holder waits for 0.2 s longer than the other router,
// which a machine that stalls delays, so one of three tries is enough.
func TestYieldsOnTerm(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		peer  int
		ends  int // which of the two
		taken bool
		tries int
	}{
		{"a holder", 10, 0, true, 3},
		{"a holder to which its successor does not advertise", 99, 0, false, 1},
		{"a BACKUP router", 10, 1, true, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := 0
			if tt.taken && tt.ends == 0 {
				want = 2
			}
			for range tt.tries {
				noticed, handed := yielded(t, tt.peer, tt.ends)
				if noticed == tt.taken && handed == want {
					return
				}
				t.Logf("it noticed the takeover: %t, want %t; %d VIPs were handed over, want %d",
					noticed, tt.taken, handed, want)
			}
			t.Errorf("not as wanted, %d times of %d", tt.tries, tt.tries)
		})
	}
}

// yielded ends one of a pair by SIGTERM. It returns whether no takeover was missed, and how many VIPs
// were handed over before the end.
func yielded(t *testing.T, peer, which int) (noticed bool, handed int) {
	t.Helper()
	l, holder, other := pair(t, peer, "--yield-on-term")
	here, there := l.watch(t), watch(t, l.neighbour)
	here.until(t, "with both VIPs", 10*time.Second, 2)
	ends := []*supervisor{holder, other}[which]
	begin := time.Now()
	ends.cmd.Process.Signal(syscall.SIGTERM)
	if which == 0 {
		there.until(t, "taken over", 10*time.Second, 2)
		here.until(t, "without the VIPs", 4*time.Second, 0)
	}
	if code := ends.wait(8 * time.Second); code != 0 {
		t.Errorf("exit status %d", code)
	}
	t.Logf("ended after %s", time.Since(begin))
	demoted := ends.read(supervised.TrackDir, supervised.LeaveTrack) == "1\n"
	if demoted != (which == 0) {
		t.Errorf("it was demoted before it ended: %t", demoted)
	}
	if st := ends.status(); st.PID != 0 || st.Instances["demo_API_0"].State != supervised.Init {
		t.Errorf("the last status is %+v", st)
	}
	return ends.log.count("no other router has taken over in time") == 0,
		ends.log.count("state=BACKUP was=MASTER")
}

// TestRelease_Backup requests a release from a router without a VIP: it ends at once.
func TestRelease_Backup(t *testing.T) {
	t.Parallel()
	_, holder, other := pair(t, 10)
	put(t, other.path(supervised.LeaveFile), "")
	other.until("left", 10*time.Second, left)
	if st := holder.status(); st.Instances["demo_API_0"].State != supervised.Master {
		t.Errorf("the holder is %+v", st.Instances)
	}
}

// TestSilentMonitor holds W-14: the monitor ends, and without its heartbeat this node loses its
// bonuses, but not its faults and not keepalived.
func TestSilentMonitor(t *testing.T) {
	t.Parallel()
	s := newFakeKeepalived(t)
	s.start(netns.New(t))
	s.propose(serving)
	s.untilState("a", supervised.Backup, 10*time.Second)
	for path, text := range map[string]string{"lb": "1\n", "both": "1\n"} {
		put(t, s.path(supervised.TrackDir, path), text)
	}
	put(t, s.path(supervised.FaultDir, "ingress"), "1\n")
	put(t, s.path(supervised.HeartbeatFile), "7\n")
	begin := time.Now()
	time.Sleep(8 * time.Second) // less than the allowance of the monitor
	if s.read(supervised.TrackDir, "lb") != "1\n" || s.status().MonitorStale {
		t.Fatal("it gave the monitor less than 8 s")
	}
	s.until("silent", 10*time.Second, func(st supervised.Status) bool { return st.MonitorStale })
	t.Logf("noticed after %s", time.Since(begin))
	for path, want := range map[string]string{"lb": "0\n", "both": "0\n"} {
		if got := s.read(supervised.TrackDir, path); got != want {
			t.Errorf("track/%s holds %q, want %q", path, got, want)
		}
	}
	if got := s.read(supervised.FaultDir, "ingress"); got != "1\n" {
		t.Errorf("fault/ingress holds %q", got)
	}
	if st := s.status(); st.PID == 0 || st.Restarts != 0 ||
		st.Instances["a"].State != supervised.Backup {
		t.Errorf("keepalived was touched: %+v", st)
	}
	put(t, s.path(supervised.HeartbeatFile), "8\n")
	s.until("the monitor runs again", 10*time.Second,
		func(st supervised.Status) bool { return !st.MonitorStale })
	if err := os.MkdirAll(s.path(supervised.TrackDir), 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, s.path(supervised.TrackDir, "lb"), "1\n")
	time.Sleep(1500 * time.Millisecond)
	if s.read(supervised.TrackDir, "lb") != "1\n" {
		t.Error("what a living monitor wrote was overwritten")
	}
}

// TestOrphan holds K-57 while the supervisor runs: a VIP without a MASTER is removed, whether the
// configuration has an instance for it or not, and no similar address is.
func TestOrphan(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	held := l.watch(t)
	s := newRealKeepalived(t)
	s.start(l.host)
	s.until("there", 10*time.Second, func(st supervised.Status) bool { return st.Instances != nil })
	const alike = "addr add 192.0.2.50/32 dev lo\naddr add 2001:db8::55/128 dev lo\n"
	const both = "addr add 192.0.2.5/24 dev lo\naddr add 2001:db8::5/64 dev lo\n"
	l.host.IP(t, alike+both)
	held.until(t, "with both strays", 10*time.Second, 2)
	t.Logf("without an instance: gone after %s", held.until(t, "without orphans", 5*time.Second, 0))
	one, _, _ := strings.Cut(fast(s.dir), "vrrp_instance demo_API_1")
	s.propose(one)
	s.untilState("demo_API_0", supervised.Master, 10*time.Second)
	l.host.IP(t, "addr add 2001:db8::5/64 dev lo\n")
	held.until(t, "with an orphan beside the VIP", 10*time.Second, 2)
	t.Logf("beside an instance: gone after %s", held.until(t, "without the orphan", 5*time.Second, 1))
	time.Sleep(1500 * time.Millisecond)
	if held.low() != 1 || s.status().Restarts != 0 {
		t.Errorf("the VIP of a MASTER went too: %v", l.addresses(t))
	}
	want := []string{"192.0.2.10/24", "192.0.2.5/32", "192.0.2.50/32", "2001:db8::10/64",
		"2001:db8::55/128"}
	if got := l.addresses(t); !slices.Equal(got, want) {
		t.Errorf("the host holds %v, want %v", got, want)
	}
}

// TestSessionsEnd holds idle connections to the VIPs, and moves the VIPs: their clients are
// notified at once, both after a release in order and when the supervisor ends. The clients of the
// host's own address are not. No ARP packet of the former holder claims the VIP afterwards.
func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	for _, way := range []struct {
		name string
		move func(*supervisor)
	}{
		{"asked to leave", func(s *supervisor) { put(s.t, s.path(supervised.LeaveFile), "") }},
		{"SIGTERM", func(s *supervisor) { s.cmd.Process.Signal(syscall.SIGTERM) }},
		{"killed", func(s *supervisor) { s.signalAll(syscall.SIGKILL) }},
	} {
		t.Run(way.name, func(t *testing.T) {
			l, holder, _ := pair(t, 10)
			client := l.client(t)
			claims := listenARP(t, client, hardware(t, l.host))
			var vips, others []net.Conn
			for _, server := range []struct{ listen, dial string }{
				{"0.0.0.0:6441", vip4 + ":6441"}, {"[::]:6442", vip4 + ":6442"},
				{"[::]:6443", "[" + vip6 + "]:6443"},
			} {
				vips = append(vips, connect(t, l.host, client, server.listen, server.dial))
			}
			others = append(others, connect(t, l.host, client, "192.0.2.10:6444",
				"192.0.2.10:6444"))
			here, there := l.watch(t), watch(t, l.neighbour)
			here.until(t, "with both VIPs", 10*time.Second, 2)
			way.move(holder)
			there.until(t, "taken over", 10*time.Second, 2)
			moved := time.Now()
			for i, c := range vips {
				c.SetReadDeadline(moved.Add(600 * time.Millisecond))
				if _, err := c.Read(make([]byte, 1)); !errors.Is(err, unix.ECONNRESET) {
					t.Errorf("session %d, %s: %v", i, c.RemoteAddr(), err)
				}
			}
			t.Logf("every session knew %s after the move", time.Since(moved))
			for _, c := range others {
				c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
				if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("the session with the host's own address: %v", err)
				}
			}
			if got := claims(moved); got != 0 && way.name != "killed" {
				t.Errorf("%d ARP packets of the old holder claimed the VIP after the move", got)
			}
			if text := output(t, l.host, "ip", "-4", "route", "show", "table",
				"local"); way.name != "killed" && strings.Contains(text, vip4) {
				t.Errorf("a route to the VIP was left:\n%s", text)
			}
		})
	}
}

// TestSuccessorsSessions disconnects the holder. Programs of the host that takes over had idle
// connections to the VIPs: their packets stay on their host now, and no other host could notify
// them that their server is gone.
func TestSuccessorsSessions(t *testing.T) {
	t.Parallel()
	l, _, _ := pair(t, 10)
	l.client(t) // keeps the switch up
	var own []net.Conn
	for _, to := range []string{vip4 + ":6441", "[" + vip6 + "]:6442"} {
		own = append(own, connect(t, l.host, l.neighbour,
			"[::]"+to[strings.LastIndex(to, ":"):], to))
	}
	other := connect(t, l.host, l.neighbour, "192.0.2.10:6444", "192.0.2.10:6444")
	there := watch(t, l.neighbour)
	l.host.IP(t, "link set ens3 down\n")
	there.until(t, "taken over", 10*time.Second, 2)
	for _, c := range own {
		c.SetReadDeadline(time.Now().Add(600 * time.Millisecond))
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, unix.ECONNABORTED) {
			t.Errorf("%s: %v", c.RemoteAddr(), err)
		}
	}
	other.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if _, err := other.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the session with the host's own address: %v", err)
	}
}

// TestServesOn has a client that does not know of the move for a moment, as none does: its packets
// to the former holder are received there just after the VIP has gone. The moment is short, and
// this test may be late for it: one of five moves is enough.
func TestServesOn(t *testing.T) {
	t.Parallel()
	l, holder, other := pair(t, 10)
	client := l.client(t)
	connect(t, l.host, client, "0.0.0.0:6441", vip4+":6441")
	client.IP(t, fmt.Sprintf("neigh replace %s lladdr %s nud permanent dev ens3\n", vip4,
		hardware(t, l.host)))
	for range 5 {
		holder.untilMaster(10 * time.Second)
		put(t, holder.path(supervised.LeaveFile), "")
		held, connected := true, false
		for end := time.Now().Add(5 * time.Second); held && time.Now().Before(end); {
			if err := l.host.In(func() (err error) {
				_, held, err = link.Holder(netip.MustParseAddr(vip4))
				return err
			}); err != nil {
				t.Fatal(err)
			}
			connected = client.In(func() error {
				c, err := net.DialTimeout("tcp", vip4+":6441", 50*time.Millisecond)
				if err == nil {
					c.Close()
				}
				return err
			}) == nil
		}
		if held {
			t.Fatal("the VIP has not gone")
		}
		if connected {
			return
		}
		other.untilMaster(10 * time.Second)
		os.Remove(holder.path(supervised.LeaveFile))
	}
	t.Error("a connection to the VIP that had just gone was not taken")
}

func TestInstall(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "onprem-supervise")
	put(t, path, "an older one")
	cmd := exec.Command(self, "--install", path)
	cmd.Env = append(os.Environ(), beSupervisor+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := os.Stat(self)
	if info.Mode() != 0o755 || info.Size() != want.Size() {
		t.Errorf("installed %v of %d bytes, want -rwxr-xr-x of %d", info.Mode(),
			info.Size(), want.Size())
	}
	if code := program.Run(t.Context(), []string{"--install", filepath.Join(path, "x")},
		os.Stderr); code != 3 {
		t.Errorf("no place to install: exit status %d", code)
	}
}

// TestReloadWithHealth reloads a holder whose priority has a bonus. keepalived computes the bonus
// anew before it gives the instance its state back, and reports it as one of BACKUP: that must not
// cost the VIPs.
func TestReloadWithHealth(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	s := newRealKeepalived(t)
	if err := os.MkdirAll(s.path(supervised.TrackDir), 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, s.path(supervised.TrackDir, "lb"), "1\n")
	healthy := func(peer int) string {
		text := router(s.dir, 10, 40, "0.1", fmt.Sprint("192.0.2.", peer),
			fmt.Sprint("2001:db8::", peer))
		text = strings.Replace(text, "track_file leave",
			fmt.Sprintf("track_file lb {\n    file %s\n    weight 20\n}\ntrack_file leave",
				s.path(supervised.TrackDir, "lb")), 1)
		return strings.ReplaceAll(text, "        leave\n", "        leave\n        lb\n")
	}
	s.start(l.host)
	s.propose(healthy(11))
	s.untilMaster(10 * time.Second)
	s.until("with its bonus", 10*time.Second,
		func(st supervised.Status) bool { return st.Instances["demo_API_0"].Priority == 60 })
	held := l.watch(t)
	held.until(t, "with both VIPs", 10*time.Second, 2)
	want := s.propose(healthy(12))
	s.until("reloaded", 10*time.Second,
		func(st supervised.Status) bool { return st.Applied == want })
	time.Sleep(1500 * time.Millisecond) // longer than the supervisor leaves a VIP without a MASTER
	if st := s.status(); st.Instances["demo_API_0"] != (supervised.Instance{State: supervised.Master, Priority: 60}) {
		t.Errorf("after the reload: %+v", st.Instances)
	}
	if held.low() < 2 {
		t.Errorf("the reload dropped a VIP: only %d held", held.low())
	}
}
