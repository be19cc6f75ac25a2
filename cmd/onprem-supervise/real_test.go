package main

import (
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/need"
)

const (
	vip4 = "192.0.2.5"
	vip6 = "2001:db8::5"
)

// config is a keepalived.conf with one instance for each VIP, the IPv6 one as VRRPv3. Peers are
// those of IPv4 and IPv6, or none.
func config(dir, advert, peer4, peer6 string) string {
	return router(dir, 10, 70, advert, peer4, peer6)
}

// router is the same for the host whose addresses end in host.
func router(dir string, host, priority int, advert, peer4, peer6 string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "global_defs {\n    vrrp_notify_fifo %s\n    vrrp_notify_priority_changes true\n    max_auto_priority -1\n}\n", filepath.Join(dir, supervised.NotifyFIFO))
	fmt.Fprintf(&b, "track_file leave {\n    file %s\n    weight -253\n}\n",
		filepath.Join(dir, supervised.TrackDir, supervised.LeaveTrack))
	for i, one := range []struct{ own, peer, vip, label string }{
		{fmt.Sprint("192.0.2.", host), peer4, vip4 + "/32", " label vip"},
		{fmt.Sprint("2001:db8::", host), peer6, vip6 + "/128", ""},
	} {
		fmt.Fprintf(&b, "vrrp_instance demo_API_%d {\n    state BACKUP\n    interface ens3\n    virtual_router_id 74\n    priority %d\n    advert_int %s\n", i, priority, advert)
		switch {
		case advert != "1":
			fmt.Fprintf(&b, "    version 3\n")
		case i == 0:
			fmt.Fprintf(&b, "    authentication {\n        auth_type PASS\n        auth_pass demo_api\n    }\n")
		}
		if one.peer != "" {
			fmt.Fprintf(&b, "    unicast_src_ip %s\n    unicast_ttl 255\n    unicast_peer {\n        %s\n    }\n", one.own, one.peer)
		}
		fmt.Fprintf(&b, "    virtual_ipaddress {\n        %s%s\n    }\n    track_file {\n        leave\n    }\n}\n", one.vip, one.label)
	}
	return b.String()
}

// fast is a configuration whose elections take 0.4 s, announced to the group as the only peer.
func fast(dir string) string { return config(dir, "0.1", "224.0.0.18", "ff02::12") }

func newRealKeepalived(t *testing.T) *supervisor {
	t.Helper()
	return newSupervisor(t, []string{need.Command(t, "keepalived"), "-D"}, vip4, vip6)
}

func (s *supervisor) untilMaster(bound time.Duration) time.Duration {
	s.t.Helper()
	return s.until("master of both", bound, func(st supervised.Status) bool {
		return st.Instances["demo_API_0"].State == supervised.Master &&
			st.Instances["demo_API_1"].State == supervised.Master
	})
}

// TestLife goes through a whole life with the timing of compat: an orphaned VIP beside similar
// addresses (K-57), an election, a reload, and a release: after SIGTERM priority 0 is advertised
// and the VIP is gone before a backup of its priority takes it (K-58).
func TestLife(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	// Similar addresses are there too: exactly the VIPs must go.
	l.host.IP(t, `addr add 192.0.2.5/32 dev ens3
addr add 192.0.2.50/32 dev ens3
addr add 2001:db8::5/128 dev ens3 nodad
addr add 2001:db8::55/128 dev ens3 nodad
`)
	held := l.watch(t)
	s := newRealKeepalived(t)
	// A pid file that names a living process, and whatever stands in the FIFO's place.
	put(t, filepath.Join(s.dir, "keepalived.pid"), "1\n")
	put(t, filepath.Join(s.dir, "vrrp.pid"), "1\n")
	put(t, filepath.Join(s.dir, supervised.NotifyFIFO), "")
	// And a request to leave that was its predecessor's business.
	if err := os.Mkdir(filepath.Join(s.dir, supervised.TrackDir), 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(s.dir, supervised.TrackDir, supervised.LeaveTrack), "1\n")
	s.start(l.host)
	held.until(t, "without the stale VIPs", 5*time.Second, 0)
	if got := l.addresses(t); !slices.Equal(got, []string{"192.0.2.10/24", "192.0.2.50/32",
		"2001:db8::10/64", "2001:db8::55/128"}) {
		t.Errorf("after the removal of the stale VIPs the host holds %v", got)
	}
	begin := time.Now()
	s.propose(config(s.dir, "1", "224.0.0.18", "ff02::12"))
	s.untilState("demo_API_0", supervised.Backup, 10*time.Second)
	held.until(t, "with both VIPs", 6*time.Second, 2)
	t.Logf("candidate to both VIPs on the host: %s", time.Since(begin))
	s.untilMaster(10 * time.Second)
	if !l.adverts.received(netip.MustParseAddr("224.0.0.18"), 70, begin, 2*time.Second) {
		t.Error("no advert of priority 70 came to the group")
	}

	// The first peer becomes known: the reload must not drop a VIP.
	begin = time.Now()
	want := s.propose(config(s.dir, "1", "192.0.2.11", "2001:db8::11"))
	s.until("reloaded", 10*time.Second,
		func(st supervised.Status) bool { return st.Applied == want })
	if !l.adverts.received(netip.MustParseAddr("192.0.2.11"), 70, begin, 3*time.Second) {
		t.Error("no advert came to the peer after the reload")
	}
	if held.low() != 2 {
		t.Errorf("the reload dropped a VIP: only %d held", held.low())
	}
	s.untilMaster(10 * time.Second)

	begin = time.Now()
	s.cmd.Process.Signal(syscall.SIGTERM)
	gone := held.until(t, "without the VIPs", 5*time.Second, 0)
	t.Logf("SIGTERM to both VIPs off the host: %s", gone)
	if most := vrrp.Skew(vrrp.V2, 70, time.Second); gone > most {
		t.Errorf("the VIPs were held for %s after SIGTERM, want %s at most", gone, most)
	}
	if !l.adverts.received(netip.MustParseAddr("192.0.2.11"), 0, begin, time.Second) {
		t.Error("no advert of priority 0 was received")
	}
	if code := s.wait(5 * time.Second); code != 0 {
		t.Errorf("exit status %d", code)
	}
	if st := s.status(); st.PID != 0 || st.Instances["demo_API_0"].State != supervised.Init ||
		st.Restarts != 0 {
		t.Errorf("the last status is %+v", st)
	}
}

// TestAdopt_AcceptsUnknownPeers starts on the configuration of an earlier run, before the monitor
// has proposed one: a holder that has joined since then, and that the configuration keeps out,
// keeps the VIPs.
func TestAdopt_AcceptsUnknownPeers(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	holder, other := newRealKeepalived(t), newRealKeepalived(t)
	holder.start(l.neighbour)
	// 0.3 s apart: a busy machine delays some adverts by 0.3 s, and no VIP must move by that
	holder.propose(router(holder.dir, 11, 70, "0.3", "192.0.2.10", "2001:db8::10"))
	holder.untilMaster(10 * time.Second)
	former := router(other.dir, 10, 60, "0.3", "192.0.2.99", "2001:db8::99")
	closed := strings.NewReplacer("    unicast_peer", "    check_unicast_src\n    unicast_peer",
		"::99\n", "::99 min_ttl 255\n", ".99\n", ".99 min_ttl 255\n").Replace(former)
	put(t, other.config, closed)
	other.start(l.host)
	for _, instance := range []string{"demo_API_0", "demo_API_1"} {
		other.untilState(instance, supervised.Backup, 10*time.Second)
	}
	time.Sleep(3 * time.Second) // more than twice as long as it takes to take a VIP
	if n := other.takeovers(); n != 0 {
		t.Errorf("%d instances were MASTER beside the VIPs' holder", n)
	}
	want := other.propose(closed) // now by the monitor
	other.until("running", 10*time.Second,
		func(st supervised.Status) bool { return st.Applied == want })
}

// TestReload_MulticastToUnicast shows why the configuration without known nodes has the group as
// its peer: a reload from no peers to peers, or back, ends keepalived's instance and begins another
// one, and the VIP is gone for an election.
func TestReload_MulticastToUnicast(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	held := l.watch(t)
	s := newRealKeepalived(t)
	s.start(l.host)
	s.propose(config(s.dir, "0.1", "", ""))
	s.untilMaster(10 * time.Second)
	held.until(t, "with both VIPs", 10*time.Second, 2)
	want := s.propose(config(s.dir, "0.1", "192.0.2.11", "2001:db8::11"))
	s.until("reloaded", 10*time.Second,
		func(st supervised.Status) bool { return st.Applied == want })
	time.Sleep(time.Second) // a reload that moves the VIP does so within it
	if held.low() == 2 {
		t.Error("this keepalived keeps the VIP: the group need not be a peer any more")
	}
}

// TestRefuses_KeepsTheVIP proposes an interface that does not exist.
func TestRefuses_KeepsTheVIP(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	held := l.watch(t)
	s := newRealKeepalived(t)
	s.start(l.host)
	good := s.propose(fast(s.dir))
	s.untilMaster(10 * time.Second)
	held.until(t, "with both VIPs", 10*time.Second, 2)
	bad := s.propose(strings.ReplaceAll(fast(s.dir), "ens3", "ens9"))
	s.until("refused", 10*time.Second, func(st supervised.Status) bool {
		return st.Refused != nil &&
			st.Refused.Candidate == bad
	})
	time.Sleep(200 * time.Millisecond)
	st := s.status()
	if held.low() != 2 || st.Applied != good || !strings.Contains(st.Refused.Output, "ens9") {
		t.Errorf("%d VIPs held, status %+v", held.low(), st)
	}
}

// TestFault_WithoutALink starts keepalived on a link that is down: it reports FAULT at once, and
// does not count as one that hangs. A signal stops its VRRP process there; it goes on, and becomes
// master when the link comes.
func TestFault_WithoutALink(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	l.host.IP(t, "link set ens3 down\n")
	s := newRealKeepalived(t)
	s.start(l.host)
	s.propose(fast(s.dir))
	for _, instance := range []string{"demo_API_0", "demo_API_1"} {
		t.Logf("%s in FAULT after %s", instance, s.untilState(instance, supervised.Fault,
			10*time.Second))
	}
	syscall.Kill(s.vrrpPID(), syscall.SIGSTOP)
	await(t, "it is not continued", 5*time.Second, func() bool {
		return s.log.count("continue keepalived") > 0 && !slices.Contains(states(s), "T")
	})
	l.host.IP(t, "link set ens3 up\n") // and no IPv6 address, which the link has lost
	s.untilState("demo_API_0", supervised.Master, 10*time.Second)
	if got := s.status().Restarts; got != 0 {
		t.Errorf("%d restarts", got)
	}
}

// TestExit_Killed holds K-57: it kills all of keepalived, and then only its VRRP process, twice, as
// keepalived waits longer each time before it starts another one.
func TestExit_Killed(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	held := l.watch(t)
	s := newRealKeepalived(t)
	s.start(l.host)
	s.propose(fast(s.dir))
	s.untilMaster(10 * time.Second)
	held.until(t, "with both VIPs", 10*time.Second, 2)
	s.signalAll(syscall.SIGKILL)
	t.Logf("kill of keepalived to both VIPs off the host: %s", held.until(t, "without the VIPs",
		time.Second, 0))
	held.until(t, "with both VIPs again", 10*time.Second, 2)
	s.untilMaster(10 * time.Second)
	if got := s.status().Restarts; got != 1 {
		t.Errorf("%d restarts, want 1", got)
	}
	for range 2 {
		syscall.Kill(s.vrrpPID(), syscall.SIGKILL)
		t.Logf("kill of its VRRP process to both VIPs off the host: %s",
			held.until(t, "without the VIPs", time.Second, 0))
		held.until(t, "with both VIPs again", 6*time.Second, 2)
		s.untilMaster(10 * time.Second)
	}
	if got := s.status().Restarts; got != 1 {
		t.Errorf("%d restarts, want still 1", got)
	}
}

// newHolder is a supervisor whose keepalived holds both VIPs.
func newHolder(t *testing.T) (lan, *holding, *supervisor) {
	t.Helper()
	l := newLAN(t)
	held := l.watch(t)
	s := newRealKeepalived(t)
	s.start(l.host)
	s.propose(fast(s.dir))
	s.untilMaster(10 * time.Second)
	held.until(t, "with both VIPs", 10*time.Second, 2)
	return l, held, s
}

// TestTerm_Hanging holds keepalived in a debugger: it cannot release the VIPs, so they are removed.
func TestTerm_Hanging(t *testing.T) {
	t.Parallel()
	_, held, s := newHolder(t)
	trace(t, s.vrrpPID())
	s.cmd.Process.Signal(syscall.SIGTERM)
	t.Logf("SIGTERM with a hung keepalived to both VIPs off the host: %s",
		held.until(t, "without the VIPs", 5*time.Second, 0))
	if code := s.wait(2 * time.Second); code != 0 {
		t.Errorf("exit status %d", code)
	}
}

// TestTerm_Stopped holds K-58 for a keepalived that a signal has stopped: it handles SIGTERM, and
// advertises its release.
func TestTerm_Stopped(t *testing.T) {
	t.Parallel()
	l, held, s := newHolder(t)
	s.signalAll(syscall.SIGSTOP)
	begin := time.Now()
	s.cmd.Process.Signal(syscall.SIGTERM)
	t.Logf("SIGTERM with a stopped keepalived to both VIPs off the host: %s",
		held.until(t, "without the VIPs", 2500*time.Millisecond, 0)) // a backup waits for three adverts
	if !l.adverts.received(netip.MustParseAddr("224.0.0.18"), 0, begin, time.Second) {
		t.Error("no advert of priority 0 was received")
	}
	if code := s.wait(2 * time.Second); code != 0 {
		t.Errorf("exit status %d", code)
	}
}

// TestKill_Hanging holds K-54: keepalived hangs while it is not to end, and others would take over
// the VIPs that it still holds.
func TestKill_Hanging(t *testing.T) {
	t.Parallel()
	_, held, s := newHolder(t)
	time.Sleep(3 * time.Second) // some beats of a healthy one
	if held.until(t, "with both VIPs", 10*time.Second, 2); s.status().Restarts != 0 {
		t.Fatal("a healthy keepalived was killed")
	}
	trace(t, s.vrrpPID())
	t.Logf("hang of keepalived to both VIPs off the host: %s", held.until(t, "without the VIPs",
		20*time.Second, 0))
	held.until(t, "with both VIPs again", 10*time.Second, 2)
	s.untilMaster(10 * time.Second)
	if got := s.status().Restarts; got != 1 {
		t.Errorf("%d restarts, want 1", got)
	}
}

// TestContinue_Stopped holds K-54: a signal stops keepalived, or a part of it. It goes on before
// others miss its adverts, and keeps the VIPs.
func TestContinue_Stopped(t *testing.T) {
	t.Parallel()
	l, held, s := newHolder(t)
	for i, stop := range []struct {
		what string
		do   func()
	}{
		{"all of it", func() { s.signalAll(syscall.SIGSTOP) }},
		{"the VRRP process", func() { syscall.Kill(s.vrrpPID(), syscall.SIGSTOP) }},
		{"its parent", func() { syscall.Kill(parent(t, s.vrrpPID()), syscall.SIGSTOP) }},
	} {
		stop.do()
		begin := time.Now()
		for s.log.count("continue keepalived") != i+1 || slices.Contains(states(s), "T") {
			if time.Since(begin) > 5*time.Second {
				t.Fatalf("%s: states %v after %s", stop.what, states(s), time.Since(begin))
			}
			time.Sleep(5 * time.Millisecond)
		}
		t.Logf("%s went on after %s", stop.what, time.Since(begin))
		if !l.adverts.received(netip.MustParseAddr("224.0.0.18"), 70, time.Now(), time.Second) {
			t.Errorf("%s: no advert was received", stop.what)
		}
		// a beat without a stop: at two in a row it would be killed
		time.Sleep(2 * time.Second)
	}
	if held.low() != 2 || s.status().Restarts != 0 {
		t.Errorf("%d VIPs held, %d restarts", held.low(), s.status().Restarts)
	}
}

// TestKill_StoppedAgain stops keepalived again and again: its VIPs are removed before others have
// them too.
func TestKill_StoppedAgain(t *testing.T) {
	t.Parallel()
	_, held, s := newHolder(t)
	vrrp, done := s.vrrpPID(), make(chan struct{})
	go func() {
		defer close(done)
		for syscall.Kill(vrrp, syscall.SIGSTOP) == nil {
			time.Sleep(time.Millisecond)
		}
	}()
	t.Logf("stop of keepalived to both VIPs off the host: %s", held.until(t, "without the VIPs",
		5*time.Second, 0))
	<-done
	held.until(t, "with both VIPs again", 10*time.Second, 2)
	s.untilMaster(10 * time.Second)
	if got := s.status().Restarts; got != 1 {
		t.Errorf("%d restarts, want 1", got)
	}
}

// states are the states of all processes below the supervisor.
func states(s *supervisor) []string {
	return slices.Collect(maps.Values(below(s.cmd.Process.Pid)))
}

func parent(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(text), "\nPPid:")
	line, _, _ = strings.Cut(line, "\n")
	ppid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	return ppid
}

// TestRunsWithoutAnInstance gives keepalived a configuration with nothing to report, and watches it
// for longer than the time after which a silent keepalived counts as hung.
func TestRunsWithoutAnInstance(t *testing.T) {
	t.Parallel() // it only waits
	l := newLAN(t)
	s := newRealKeepalived(t)
	s.start(l.host)
	s.propose("global_defs {\n    vrrp_notify_fifo " + filepath.Join(s.dir, supervised.NotifyFIFO) +
		"\n    vrrp_notify_priority_changes true\n}\n")
	s.until("started", 10*time.Second, func(st supervised.Status) bool { return st.PID != 0 })
	first := s.status().PID
	for end := time.Now().Add(33 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if st := s.status(); st.PID != first || st.Restarts != 0 {
			t.Fatalf("keepalived was ended: %+v", st)
		}
	}
	s.propose(fast(s.dir))
	s.untilMaster(10 * time.Second)
}
