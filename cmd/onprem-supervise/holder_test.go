package main

import (
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// The numbers of two routers whose ranks differ, with health and the holder's bonus.
const (
	worse, better = 40, 58
	healthy       = 60
	bonus         = 30
)

// ranked is a router whose priority has its health and, as long as it holds a VIP, the holder
// bonus.
func ranked(dir string, host, rank int, advert string) string {
	other := 21 - host
	text := router(dir, host, rank, advert, fmt.Sprint("192.0.2.", other),
		fmt.Sprint("2001:db8::", other))
	var tracks strings.Builder
	fmt.Fprintf(&tracks, "track_file lb {\n    file %s\n    weight %d\n}\n",
		filepath.Join(dir, supervised.TrackDir, "lb"), healthy)
	for i := range 2 {
		name := fmt.Sprintf("demo_API_%d", i)
		fmt.Fprintf(&tracks, "track_file holder_%d {\n    file %s\n    weight %d\n}\n", i,
			filepath.Join(dir, supervised.HolderTrack(name)), bonus)
		head, tail, _ := strings.Cut(text, "vrrp_instance "+name)
		text = head + "vrrp_instance " + name + strings.Replace(tail, "        leave\n",
			fmt.Sprintf("        leave\n        lb\n        holder_%d\n", i), 1)
	}
	return strings.Replace(text, "track_file leave", tracks.String()+"track_file leave", 1)
}

// startRanked starts a healthy one with its configuration.
func (s *supervisor) startRanked(l lan, host, rank int, advert string) {
	s.t.Helper()
	if err := os.MkdirAll(s.path(supervised.TrackDir), 0o755); err != nil {
		s.t.Fatal(err)
	}
	s.health(true)
	where := l.host
	if host == 11 {
		where = l.neighbour
	}
	s.start(where)
	s.propose(ranked(s.dir, host, rank, advert))
}

func (s *supervisor) health(good bool) {
	s.t.Helper()
	put(s.t, s.path(supervised.TrackDir, "lb"), map[bool]string{true: "1\n", false: "0\n"}[good])
}

// untilAt waits for a state at a priority, of both instances.
func (s *supervisor) untilAt(state supervised.State, priority int,
	bound time.Duration) time.Duration {
	s.t.Helper()
	return s.until(fmt.Sprint(state, " ", priority), bound, func(st supervised.Status) bool {
		want := supervised.Instance{State: state, Priority: priority}
		return st.Instances["demo_API_0"] == want && st.Instances["demo_API_1"] == want
	})
}

// takeovers counts how often an instance has become MASTER.
func (s *supervisor) takeovers() int {
	return s.log.count("state=MASTER was=BACKUP") + s.log.count("state=MASTER was=INIT")
}

// TestHolder_KeepsItsVIP holds that a router of a better rank does not take the VIPs over from a
// holder of equal health, that a holder whose health falls loses them, and that it does not get
// them back when it is healthy again. It starts with a bonus of an earlier run in its files.
func TestHolder_KeepsItsVIP(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	holder, other := newRealKeepalived(t), newRealKeepalived(t)
	// 0.3 s apart: a busy machine delays some adverts by 0.3 s, and no VIP must move by that
	holder.startRanked(l, 10, worse, "0.3")
	holder.untilAt(supervised.Master, worse+healthy+bonus, 10*time.Second)
	if err := os.Mkdir(other.path(supervised.HolderDir), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		put(t, other.path(supervised.HolderTrack(fmt.Sprint("demo_API_", i))), "1\n")
	}
	other.startRanked(l, 11, better, "0.3")
	other.untilAt(supervised.Backup, better+healthy, 10*time.Second)
	time.Sleep(2500 * time.Millisecond) // more than two master-down times
	if n := other.takeovers(); n != 0 {
		t.Errorf("it took the VIP over from a holder of equal health, %d times", n)
	}

	here, there := l.watch(t), watch(t, l.neighbour)
	here.until(t, "with both VIPs", 10*time.Second, 2)
	holder.health(false)
	took := there.until(t, "taken over", 10*time.Second, 2)
	t.Logf("a holder that is not healthy any more loses the VIPs after %s", took)
	other.untilAt(supervised.Master, better+healthy+bonus, 10*time.Second)
	holder.untilAt(supervised.Backup, worse, 10*time.Second)
	holder.health(true)
	holder.untilAt(supervised.Backup, worse+healthy, 10*time.Second)
	if n := holder.takeovers(); n != 2 {
		t.Errorf("the first holder became MASTER %d times, want once for each VIP", n)
	}
}

// TestRestarted_DoesNotPreempt kills keepalived on the holder of the better rank right after an
// advert, so that its successor begins to listen just when the other router takes over, and
// receives an advert of that one without the bonus.
func TestRestarted_DoesNotPreempt(t *testing.T) {
	for _, tt := range []struct {
		name string
		kill func(*supervisor)
	}{
		{"all of keepalived", func(s *supervisor) { s.signalAll(syscall.SIGKILL) }},
		{"its VRRP process", func(s *supervisor) { syscall.Kill(s.vrrpPID(), syscall.SIGKILL) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			// A busy machine may let the other router run late, so that both take over at one time.
			const due = 3*500*time.Millisecond + (256-worse-healthy)*500*time.Millisecond/256
			for tries := 1; ; tries++ {
				took, n := restartHolder(t, tt.kill)
				t.Logf("the other router had the VIPs after %s, due was %s", took, due)
				if n == 2 {
					return
				}
				if tries == 4 || took < due+50*time.Millisecond {
					t.Fatalf("it became MASTER %d times, want once for each VIP", n)
				}
			}
		})
	}
}

// holderAndOther are a holder of the better rank, and another router, which advertise at an interval.
func holderAndOther(t *testing.T, interval string) (l lan, holder, other *supervisor) {
	t.Helper()
	l, holder, other = newLAN(t), newRealKeepalived(t), newRealKeepalived(t)
	holder.startRanked(l, 10, better, interval)
	holder.untilAt(supervised.Master, better+healthy+bonus, 10*time.Second)
	other.startRanked(l, 11, worse, interval)
	other.untilAt(supervised.Backup, worse+healthy, 10*time.Second)
	return l, holder, other
}

// restartHolder kills keepalived on the holder of the better rank. It returns after what time the
// other router has the VIPs, which it keeps, and how many the first one took in all.
func restartHolder(t *testing.T, kill func(*supervisor)) (took time.Duration, takeovers int) {
	t.Helper()
	l, holder, other := holderAndOther(t, "0.5")
	there := watch(t, l.neighbour)
	if !l.adverts.received(netip.MustParseAddr("192.0.2.11"), better+healthy+bonus, time.Now(), 2*time.Second) {
		t.Fatal("the holder does not advertise")
	}
	kill(holder)
	took = there.until(t, "taken over", 10*time.Second, 2)
	other.untilAt(supervised.Master, worse+healthy+bonus, 10*time.Second)
	holder.untilAt(supervised.Backup, better+healthy, 10*time.Second)
	time.Sleep(2 * time.Second) // more than a master-down time
	other.untilAt(supervised.Master, worse+healthy+bonus, 10*time.Second)
	return took, holder.takeovers()
}

// TestRestarted_Alone holds how much later a router takes over after a restart if no other one
// does: hardly any.
func TestRestarted_Alone(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	held := l.watch(t)
	s := newRealKeepalived(t)
	s.startRanked(l, 10, better, "0.1")
	s.untilAt(supervised.Master, better+healthy+bonus, 10*time.Second)
	s.signalAll(syscall.SIGKILL)
	held.until(t, "without the VIPs", 5*time.Second, 0)
	t.Logf("both VIPs again after %s", held.until(t, "with both VIPs again", 20*time.Second, 2))
	s.untilAt(supervised.Master, better+healthy+bonus, 10*time.Second)
}

// TestContinue_BeforeAdvertsAreMissed has a signal stop keepalived, or its VRRP process alone, at
// several times between two beats: it goes on before another router misses its adverts.
func TestContinue_BeforeAdvertsAreMissed(t *testing.T) {
	t.Parallel()
	// A stop is seen within one interval, and the other router takes the VIPs after 3.6 of them: that
	// is before the next beat, at which the supervisor would see the stop anyway.
	_, holder, other := holderAndOther(t, "0.25")
	for round := range 6 {
		if round%2 == 0 {
			syscall.Kill(holder.vrrpPID(), syscall.SIGSTOP)
		} else {
			holder.signalAll(syscall.SIGSTOP)
		}
		await(t, "it is not continued", 5*time.Second, func() bool {
			return holder.log.count("continue keepalived") == round+1
		})
		// a beat without a stop, though it may be late, and a part of another one
		time.Sleep(1300*time.Millisecond + time.Duration(round)*190*time.Millisecond)
	}
	if n := other.takeovers(); n != 0 || holder.status().Restarts != 0 {
		t.Errorf("the other one became MASTER %d times, %d restarts", n, holder.status().Restarts)
	}
}

// TestElectionDuringATest has keepalived become MASTER while the test of another configuration
// hangs: the bonus does not wait for its end.
func TestElectionDuringATest(t *testing.T) {
	t.Parallel()
	s := newFakeKeepalived(t)
	s.start(netns.New(t))
	file := s.path(supervised.HolderTrack("a"))
	tracks := ": <<'}'\ntrack_file holder {\n    file " + file + "\n}\n"
	holds := func(want string) {
		t.Helper()
		await(t, "the file is not "+want, 5*time.Second, func() bool {
			return s.read(supervised.HolderTrack("a")) == want
		})
	}
	s.propose(tracks + strings.Replace(serving, "while :", `while ! [ -e "$DIR/elected" ]; do sleep 0.02 & wait; done
echo 'INSTANCE "a" MASTER 70' >"$FIFO"
while :`, 1))
	s.untilState("a", supervised.Backup, 10*time.Second)
	holds("-1\n")
	s.propose(tracks + serving + "# slow\n")
	// keepalived, what it waits for, and the test
	await(t, "the test does not begin", 5*time.Second, func() bool {
		return len(below(s.cmd.Process.Pid)) >= 3
	})
	put(t, s.path("elected"), "")
	holds("1\n")
}

// TestDuringATest holds that what cannot wait does not while the test of another configuration hangs:
// a request to leave and its withdrawal, a keepalived that a signal has stopped, and one that has
// ended.
func TestDuringATest(t *testing.T) {
	keepalived := func(s *supervisor) int { // which is the first that was started
		return slices.Min(slices.Collect(maps.Keys(below(s.cmd.Process.Pid))))
	}
	for name, happens := range map[string]func(*supervisor){
		"a request to leave": func(s *supervisor) {
			put(s.t, s.path(supervised.LeaveFile), "")
			s.until("left", 5*time.Second, left)
			if err := os.Remove(s.path(supervised.LeaveFile)); err != nil {
				s.t.Error(err)
			}
			s.untilState("a", supervised.Backup, 5*time.Second)
		},
		"a stop": func(s *supervisor) {
			syscall.Kill(keepalived(s), syscall.SIGSTOP)
			await(s.t, "it is not continued", 5*time.Second, func() bool {
				return s.log.count("continue keepalived") > 0
			})
		},
		"an end": func(s *supervisor) {
			syscall.Kill(keepalived(s), syscall.SIGKILL)
			s.until("running again", 5*time.Second,
				func(st supervised.Status) bool { return st.Restarts == 1 && st.PID != 0 })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFakeKeepalived(t)
			s.start(netns.New(t))
			s.propose(serving)
			s.untilState("a", supervised.Backup, 10*time.Second)
			s.propose(serving + "# slow\n")
			// keepalived, what it waits for, and the test
			await(t, "the test does not begin", 5*time.Second, func() bool {
				return len(below(s.cmd.Process.Pid)) >= 3
			})
			happens(s)
		})
	}
}

// TestReload_KeepsTheVIP gives a holder another rank again and again, below and above that of a
// BACKUP router: neither the reload nor the rank costs it the VIPs, and the other router receives
// its adverts all the time.
func TestReload_KeepsTheVIP(t *testing.T) {
	t.Parallel()
	const between = (worse + better) / 2 // adverts 0.3 s apart: a busy machine delays some by 0.3 s
	l := newLAN(t)
	holder, other := newRealKeepalived(t), newRealKeepalived(t)
	holder.startRanked(l, 10, better, "0.3")
	holder.untilAt(supervised.Master, better+healthy+bonus, 10*time.Second)
	other.startRanked(l, 11, between, "0.3")
	other.untilAt(supervised.Backup, between+healthy, 10*time.Second)
	held := l.watch(t)
	held.until(t, "with both VIPs", 10*time.Second, 2)
	for round := range 6 {
		rank := []int{worse, better}[round%2]
		holder.propose(ranked(holder.dir, 10, rank, "0.3"))
		holder.untilAt(supervised.Master, rank+healthy+bonus, 10*time.Second)
		time.Sleep(1200 * time.Millisecond) // more than a master-down time
	}
	if n := other.takeovers(); n != 0 || held.low() != 2 {
		t.Errorf("the other one became MASTER %d times, and the holder had %d VIPs at the least", n,
			held.low())
	}
}

// both names the instances.
const both = "demo_API_0\ndemo_API_1\n"

// TestUnserved has the monitor report that the holder's VIPs are not served any more: it releases
// them at once, and is then a candidate like any other. When the router that has taken over is gone
// they come back, and stay, as the monitor has reported nothing else.
func TestUnserved(t *testing.T) {
	t.Parallel()
	l, holder, other := holderAndOther(t, "0.5")
	// a router without a VIP has nothing to release
	put(t, other.path(supervised.UnservedFile), both)
	there := watch(t, l.neighbour)
	begin := time.Now()
	holder.health(false)
	put(t, holder.path(supervised.UnservedFile), both)
	took := there.until(t, "taken over", 10*time.Second, 2)
	t.Logf("released and taken over after %s", took)
	if !l.adverts.received(netip.MustParseAddr("192.0.2.11"), 0, begin, time.Second) {
		t.Error("no advert of priority 0 was received")
	}
	if took >= 3*500*time.Millisecond {
		t.Errorf("the other one waited for adverts: %s", took)
	}
	other.untilAt(supervised.Master, worse+healthy+bonus, 10*time.Second)
	holder.untilAt(supervised.Backup, better, 10*time.Second)

	here := l.watch(t)
	other.signalAll(syscall.SIGKILL)
	here.until(t, "with both VIPs again", 10*time.Second, 2)
	holder.untilAt(supervised.Master, better+bonus, 10*time.Second)
	other.untilAt(supervised.Backup, worse+healthy-bonus, 10*time.Second)
	if n := holder.log.count("release the VIP"); n != 2 {
		t.Errorf("it gave up %d times, want once for each VIP", n)
	}

	// It is served again, and then not: that is another time.
	if err := os.Remove(holder.path(supervised.UnservedFile)); err != nil {
		t.Fatal(err)
	}
	other.untilAt(supervised.Master, worse+healthy+bonus, 10*time.Second) // it does better
}

// TestUnserved_Alone holds that a VIP which no other router can take over is back soon, and stays.
func TestUnserved_Alone(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	s := newRealKeepalived(t)
	s.startRanked(l, 10, better, "0.1")
	s.untilAt(supervised.Master, better+healthy+bonus, 10*time.Second)
	held := l.watch(t)
	held.until(t, "with both VIPs", 10*time.Second, 2)
	s.health(false)
	put(t, s.path(supervised.UnservedFile), both)
	held.until(t, "without the VIPs", 5*time.Second, 0)
	t.Logf("both VIPs again after %s", held.until(t, "with both VIPs again", 10*time.Second, 2))
	s.untilAt(supervised.Master, better+bonus, 10*time.Second)
	time.Sleep(time.Second) // a second release would come within it
	if n := s.log.count("release the VIP"); n != 2 || held.low() != 2 {
		t.Errorf("it gave up %d times, want once for each VIP, and holds %d at the least", n,
			held.low())
	}
}
