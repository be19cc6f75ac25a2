package podvip

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// stage is three nodes with ranks, by their ranks, and whoever holds the API VIP.
type stage struct {
	*testing.T
	*lan
	observer *lab.Observer
	ranked   []*node
}

// announces is what a node of a rank announces whose balancer works and that has no machine config
// server.
func announces(rank int, holder bool) int {
	c := vrrp.Ranked().ControlPlane
	priority := int(c.Base) + c.Rank(rank) + c.Weights[0].Adds + c.Weights[1].Adds
	if holder {
		priority += c.Holder
	}
	return priority
}

// TestRanked is three control plane nodes of a cluster of ours alone, from their first start: they
// claim a rank each, the best one that can takes the VIP, and whoever holds it keeps it against
// every better rank that comes back, until its own health falls.
func TestRanked(t *testing.T) {
	t.Parallel() // each has a network of its own, and waits most of the time
	l := open(t, vrrp.ProfileLan)
	s := &stage{T: t, lan: l, observer: l.control()}
	s.claims()
	s.returns()
	s.restarts()
	s.falls()
	s.outage()
	s.reboots()
}

// stands says whether a node has the VIP, or waits for it, at its full priority.
func (s *stage) stands(rank int, holder bool) bool {
	want := supervised.Instance{State: supervised.Backup, Priority: announces(rank, holder)}
	if holder {
		want.State = supervised.Master
	}
	return s.ranked[rank].status().Instances["ostest_API_0"] == want
}

// anybody may hold the VIP.
const anybody = -1

// steady waits until one holds the VIP and all others wait for it, and holds that it stays so for
// longer than anybody waits or settles.
func (s *stage) steady(what string, holder int) {
	s.Helper()
	s.until(what, 30*time.Second, func() bool {
		for rank := range s.ranked {
			if !s.stands(rank, rank == holder || holder == anybody && s.held(rank)) {
				return false
			}
		}
		return holder == anybody || s.held(holder)
	})
	spans := len(s.observer.Report().Spans)
	time.Sleep(1500 * time.Millisecond)
	if report := s.observer.Report(); len(report.Spans) != spans || len(s.observer.Holders()) != 1 {
		s.Errorf("%s: and then the VIP moves: %v", what, report.Spans[spans-1:])
	}
}

// held says whether the node of this rank has the VIP and nobody else.
func (s *stage) held(rank int) bool {
	return slices.Equal(s.observer.Holders(), []string{s.ranked[rank].Host.Name})
}

// gap is the longest time without a holder after an instant.
func (s *stage) gap(since time.Time) (longest time.Duration) {
	for _, span := range s.observer.Report().Spans {
		if len(span.Holders) == 0 && span.To.After(since) {
			longest = max(longest, span.Length())
		}
	}
	return longest.Round(time.Millisecond)
}

// claims waits until each node has a rank of its own, and knows them by it then.
func (s *stage) claims() {
	s.Helper()
	rankOf := func(n *node) int {
		config, base := n.proposed(), int(vrrp.Ranked().ControlPlane.Base)
		_, after, ok := strings.Cut(config, "vrrp_instance ostest_API_0")
		for rank := range 3 {
			if ok && strings.Contains(after[:strings.Index(after, "}")], fmt.Sprintf("priority %d\n", base+vrrp.Ranked().ControlPlane.Rank(rank))) {
				return rank
			}
		}
		return -1
	}
	s.until("each node has a rank", 40*time.Second, func() bool {
		s.ranked = make([]*node, 3)
		for _, n := range s.nodes {
			if rank := rankOf(n); rank >= 0 {
				s.ranked[rank] = n
			}
		}
		return !slices.Contains(s.ranked, nil)
	})
	s.until("somebody holds the VIP", 30*time.Second, func() bool { return len(s.observer.Holders()) == 1 })
	s.steady("at first", anybody)
}

// holder is the rank of the one who has the VIP.
func (s *stage) holder() int {
	s.Helper()
	for rank := range s.ranked {
		if s.held(rank) {
			return rank
		}
	}
	s.Fatalf("held by %v", s.observer.Holders())
	return -1
}

// best is the best rank but for one.
func best(but int) int {
	if but == 0 {
		return 1
	}
	return 0
}

// lost takes the power from the holder: the best of the others takes over, and keeps the VIP when
// the former holder is back.
func (s *stage) lost(what string) {
	s.Helper()
	was := s.holder()
	next, begin := best(was), time.Now()
	if err := s.ranked[was].Off(); err != nil {
		s.Fatal(err)
	}
	s.until(what+": the best of the others has it", 10*time.Second, func() bool { return s.held(next) })
	s.Logf("%s: the power of rank %d was lost, %s later rank %d has the VIP; without a holder for %s", what, was, time.Since(begin).Round(10*time.Millisecond), next, s.gap(begin))
	if err := s.ranked[was].Host.On(); err != nil {
		s.Fatal(err)
	}
	s.ranked[was].start()
	s.steady(what+": the former holder is back", next)
}

// returns holds that no rank takes the VIP from its holder by coming back, the best one neither.
func (s *stage) returns() {
	s.Helper()
	if s.holder() != 0 {
		s.lost("to the best one")
	}
	s.lost("from the best one")
	if s.holder() == 0 {
		s.Error("the best one has taken the VIP back")
	}
}

// restarts kills all of the holder's pod but its monitor: what the supervisor has left behind in
// its files, and the holder's rank, give it nothing back.
func (s *stage) restarts() {
	s.Helper()
	if s.holder() != 0 {
		s.lost("to the best one again")
	}
	begin := time.Now()
	s.ranked[0].signal("keepalived", syscall.SIGKILL)
	s.until("the next one has it", 10*time.Second, func() bool { return s.held(1) })
	s.Logf("the holder's supervisor was killed: without a holder for %s", s.gap(begin))
	s.steady("the supervisor was killed", 1)
}

// falls takes the holder's health away, and gives it back.
func (s *stage) falls() {
	s.Helper()
	was := s.holder()
	n := s.ranked[was]
	begin := time.Now()
	n.balancer.Store(&balancer{check: "L4CON"})
	took := s.until("the best of the others has it", 10*time.Second, func() bool { return s.held(best(was)) })
	s.Logf("the balancer of rank %d died: rank %d has the VIP after %s; without a holder for %s", was, best(was), took.Round(10*time.Millisecond), s.gap(begin))
	n.balancer.Store(&balancer{up: true, check: "L7OK"})
	s.steady("the balancer is back", best(was))
}

// outage holds W-14: nothing serves anywhere, so that whoever holds the VIP gives it up; it goes
// round once at the most, and has a home.
func (s *stage) outage() {
	s.Helper()
	begin := time.Now()
	for _, n := range s.ranked {
		n.balancer.Store(&balancer{check: "L4CON"})
	}
	low := func(rank int, holder bool) int {
		c := vrrp.Ranked().ControlPlane
		if holder {
			return int(c.Base) + c.Rank(rank) + c.Holder
		}
		return int(c.Base) + c.Rank(rank)
	}
	spans, quiet := 0, time.Now()
	s.until("nobody is well, and the VIP stays where it is", 30*time.Second, func() bool {
		well := false
		for rank, n := range s.ranked {
			i := n.status().Instances["ostest_API_0"]
			well = well || i.Priority != low(rank, i.State == supervised.Master)
		}
		if now := len(s.observer.Report().Spans); well || now != spans || len(s.observer.Holders()) != 1 {
			spans, quiet = now, time.Now()
		}
		return time.Since(quiet) > 3*time.Second // more than the checks take
	})
	moves := 0
	for _, span := range s.observer.Report().Spans {
		if span.From.After(begin) && len(span.Holders) == 1 {
			moves++
		}
	}
	s.Logf("nobody is well: %d moves, without a holder for %s", moves, s.gap(begin))
	if moves > len(s.ranked) {
		s.Errorf("the VIP moved %d times", moves)
	}
	for _, n := range s.ranked {
		n.balancer.Store(&balancer{up: true, check: "L7OK"})
	}
	s.steady("all are well again", anybody)
}

// reboots has the API away while a node that waits is rebooted: it has the rank that it had.
func (s *stage) reboots() {
	s.Helper()
	holder := s.holder()
	s.api.Down()
	n := s.ranked[2]
	if holder == 2 {
		n = s.ranked[1]
	}
	if err := n.Off(); err != nil {
		s.Fatal(err)
	}
	if err := n.Host.On(); err != nil {
		s.Fatal(err)
	}
	n.start()
	s.steady("a reboot while the API is away", holder)
}
