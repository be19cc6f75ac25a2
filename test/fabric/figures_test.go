package fabric

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/test/traffic"
)

// times is how often each failure is measured.
const times = 10

// TestLongFigures measures what failures of a node cost clients behind the spine, with the timers of
// each profile beside what is computed, and that orderly ends cost nothing.
func TestLongFigures(t *testing.T) {
	if os.Getenv("ONPREM_INFRA_LONG") == "" {
		t.Skip("set ONPREM_INFRA_LONG=1, as make e2e does")
	}
	for _, timing := range bgp.Profiles() {
		t.Run(timing.Profile, func(t *testing.T) {
			f, n := rack(t, timing.Profile)
			var last []time.Duration
			failed := 0
			for i := range times {
				lost := n[2*(i%2)] // of two in its rack, and the only one
				cost, count := f.cost(func() { lost.Cut() })
				last, failed = append(last, cost), failed+count
				f.must(lost.Power())
				f.spread(VIP4, 2, 2)
				time.Sleep(time.Second)
			}
			slices.Sort(last)
			bound := timing.PowerLoss(1)
			t.Logf("power loss: the last failed connection begins after %v at least, %v in the middle, %v at most; computed %v; %d failed",
				last[0], last[times/2], last[times-1], bound, failed)
			// noise is how late a busy machine's routers, and its clients, are.
			const noise = 300 * time.Millisecond
			if last[times-1] > bound+noise {
				t.Errorf("a power loss costs %v, computed %v", last[times-1], bound)
			}
			if timing.Profile != bgp.ProfileLan {
				return
			}
			for name, end := range map[string]func(*Node){
				"orderly end": func(n *Node) { n.End(); f.must(n.Start()) },
				"bgpd killed": func(n *Node) { n.Kill(frr.BGP) },
				"bfdd killed": func(n *Node) { n.Kill(frr.BFD) },
			} {
				failed := 0
				for i := range times {
					_, count := f.cost(func() { end(n[2*(i%2)]); time.Sleep(4 * time.Second) })
					failed += count
					f.spread(VIP4, 2, 2)
				}
				t.Logf("%s, %d times: %d failed", name, times, failed)
				// Of a killed daemon in the last node of a rack a few packets are under way.
				if failed > 2*times || failed > 0 && name == "orderly end" {
					t.Errorf("%s: %d failed", name, failed)
				}
			}
		})
	}
}

// cost is when the last connection began that failed by something, and how many did.
func (f *Fabric) cost(event func()) (last time.Duration, failed int) {
	f.t.Helper()
	clients := f.clients(VIP4, 200*time.Millisecond)
	time.Sleep(500 * time.Millisecond)
	begun := time.Now()
	event()
	time.Sleep(f.timing.PowerLoss(1) + time.Second)
	for _, r := range clients.Stop().Since(begun).With(traffic.Refused, traffic.Silent, traffic.Late, traffic.Failed) {
		last, failed = max(last, r.Start.Sub(begun)), failed+1
		f.t.Logf("%s %v after it began: %v", r.Outcome, r.Start.Sub(begun).Round(time.Millisecond), r.Err)
	}
	return last, failed
}
