package fabric

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/traffic"
)

// times is how often each failure is measured.
const times = 10

// figure is what an event costs clients behind the spine, once for each time.
type figure struct {
	last   []time.Duration // when the last connection began that failed, after the event
	failed []int
}

// measure has something happen many times, and a second after which all is as before.
func (f *Fabric) measure(patience time.Duration, event, restore func(i int)) (all figure) {
	f.t.Helper()
	for i := range times {
		last, failed := f.cost(patience, func() { event(i) })
		all.last, all.failed = append(all.last, last), append(all.failed, failed)
		restore(i)
		time.Sleep(time.Second)
	}
	slices.Sort(all.last)
	slices.Sort(all.failed)
	return all
}

// String has the least, the median and the most.
func (a figure) String() string {
	at := func(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
	return fmt.Sprintf("%d times: %d, %d, %d failed; the last one began after %v, %v, %v (least, median, most)", times, a.failed[0], a.failed[times/2],
		a.failed[times-1], at(a.last[0]), at(a.last[times/2]), at(a.last[times-1]))
}

// TestLongFigures measures what failures cost clients behind the spine, with the timers of each profile
// beside what is computed, and that orderly ends cost nothing.
func TestLongFigures(t *testing.T) {
	if os.Getenv("ONPREM_INFRA_LONG") == "" {
		t.Skip("set ONPREM_INFRA_LONG=1, as make e2e does")
	}
	for _, timing := range bgp.Profiles() {
		t.Run(timing.Profile, func(t *testing.T) {
			f, n := rack(t, timing.Profile)
			of := func(i int) *Node { return n[2*(i%2)] } // of two in its rack, and the only one
			f.bounded("power loss of a node", f.measure(strict, func(i int) { of(i).Cut() }, func(i int) {
				f.must(of(i).Power())
				f.spread(VIP4, 2, 2)
			}))
			if timing.Profile == bgp.ProfileLan {
				f.ends(of)
			}
		})
		t.Run(timing.Profile+" with two leaves", func(t *testing.T) {
			f, n := rack(t, timing.Profile, SecondLeaf())
			hosts := []*lab.Host{n[0].Host, n[1].Host}
			f.bounded("power loss of a leaf", f.measure(strict, func(i int) { f.CutLeaf(2*(i%2), hosts, true) }, func(i int) {
				f.CutLeaf(2*(i%2), hosts, false)
				until(t, "all sessions", 60*time.Second, func() bool { return n[0].established() && n[1].established() })
				f.spread(VIP4, 3, 2)
			}))
		})
	}
}

// bounded holds that a failure costs no more than is computed.
func (f *Fabric) bounded(what string, all figure) {
	f.t.Helper()
	bound := f.timing.PowerLoss(1)
	f.t.Logf("%s: computed %v; %v", what, bound, all)
	if last := all.last[times-1]; last > bound+noise {
		f.t.Errorf("%s costs %v, computed %v", what, last, bound)
	}
	if all.failed[times-1] == 0 {
		f.t.Errorf("%s has cost nothing: it has not happened", what)
	}
}

// ends measures what ends of a node's programs cost.
func (f *Fabric) ends(of func(i int) *Node) {
	f.t.Helper()
	back := func(int) { f.spread(VIP4, 2, 2) }
	wait := func() { time.Sleep(4 * time.Second) }
	// Each of a killed daemon's sessions ends, zebra's when the next zebra is there: in the last node of a
	// rack connections fail until leaf and spine have followed. That is half of the clients, of which
	// one comes every 10 ms.
	flap := int((2*bgp.Pass + noise) / (10 * time.Millisecond) / 2)
	for _, one := range []struct {
		what           string
		event, restore func(i int)
		most           int // in one time
	}{
		{"the speaker ends, and its next release starts", func(i int) { of(i).End(); f.must(of(i).Start()); wait() }, back, 0},
		{"reboot", func(i int) {
			of(i).Leave()
			until(f.t, "it has left", 10*time.Second, func() bool { return of(i).Status().Left })
			of(i).Cut()
			wait()
		}, func(i int) {
			of(i).Return()
			f.must(of(i).Power())
			back(i)
		}, 0},
		{"bgpd killed", func(i int) { of(i).Kill(frr.BGP); wait() }, back, flap},
		{"bfdd killed", func(i int) { of(i).Kill(frr.BFD); wait() }, back, flap},
		{"zebra killed", func(i int) { of(i).Kill(frr.Zebra); wait() }, back, flap},
	} {
		all := f.measure(patient, one.event, one.restore)
		f.t.Logf("%s: %v", one.what, all)
		if most := all.failed[times-1]; most > one.most {
			f.t.Errorf("%s: %d failed, want %d at most", one.what, most, one.most)
		}
	}
}

// strict is the patience of clients that measure when routers have followed, and patient that of those of
// which none may fail: less than the second after which a lost packet is sent again, so that a busy
// machine alone does not count.
const (
	strict  = 200 * time.Millisecond
	patient = 900 * time.Millisecond
)

// cost is when the last connection began that failed by something, and how many did.
func (f *Fabric) cost(patience time.Duration, event func()) (last time.Duration, failed int) {
	f.t.Helper()
	clients := f.clients(VIP4, patience)
	time.Sleep(500 * time.Millisecond)
	begun := time.Now()
	event()
	time.Sleep(f.timing.PowerLoss(1) + time.Second)
	all := clients.Stop().Since(begun)
	if pause := all.Pause(); pause > 100*time.Millisecond {
		f.t.Logf("the clients themselves had no processor for %v", pause)
	}
	for _, r := range all.With(traffic.Refused, traffic.Silent, traffic.Late, traffic.Failed) {
		last, failed = max(last, r.Start.Sub(begun)), failed+1
		f.t.Logf("%s %v after it began: %v", r.Outcome, r.Start.Sub(begun).Round(time.Millisecond), r.Err)
	}
	return last, failed
}
