package balanced

import (
	"net/netip"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/test/fabric"
	"github.com/onprem-infra/onprem-infra/test/figures"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/traffic"
)

// TestEnds has HAProxy of one of three nodes crash, and then end together with the node's API server:
// clients wait no longer than the plan has computed, loosely beside other tests. TestLongFigures measures it.
func TestEnds(t *testing.T) {
	w := open(t)
	w.measure(figures.LBCrash, 1, busy)
	w.measure(figures.NodeDown, 1, busy)
}

// TestLongFigures measures both several times, and what the node's monitor costs while nothing happens. With
// busy loops beside no node withdraws.
func TestLongFigures(t *testing.T) {
	if os.Getenv("ONPREM_INFRA_LONG") == "" {
		t.Skip("set ONPREM_INFRA_LONG=1, as make e2e does")
	}
	if !figures.Wanted(t, figures.LBCrash, figures.NodeDown, figures.AtRest, figures.UnderLoad) {
		t.Skip("nothing of it is wanted")
	}
	w := open(t)
	w.rest()
	for _, scenario := range []string{figures.LBCrash, figures.NodeDown} {
		if figures.Wanted(t, scenario) {
			w.measure(scenario, figures.Repetitions(t), noise)
		}
	}
	w.loaded()
}

// What a machine adds: noise to what it measures alone, and busy beside other tests, where a packet that is lost,
// or a server that HAProxy tries in vain, is tried again a second later.
const (
	noise = 300 * time.Millisecond
	busy  = 900 * time.Millisecond
)

// bound is how long clients are not served at most, by the plan.
func (w *world) bound(scenario string) time.Duration {
	w.t.Helper()
	for _, b := range w.plan.BGP.Bounds {
		if b.Scenario == scenario {
			return time.Duration(b.DarkMs) * time.Millisecond
		}
	}
	w.t.Fatalf("the plan has no bound for %s", scenario)
	return 0
}

// measure has something happen to a node, in the first rack and in the other by turns, and holds what clients
// lose to what is computed and added.
func (w *world) measure(scenario string, times int, added time.Duration) {
	w.t.Helper()
	var sum figures.Sum
	for i := range times {
		n := w.nodes[2*(i%2)]
		w.until("HAProxy serves, and routers lead to all", 90*time.Second, func() bool { return n.serves() && w.spread() })
		time.Sleep(time.Second) // the redirect is on
		happens, back := func() { n.signal(syscall.SIGKILL) }, func() {}
		if scenario == figures.NodeDown {
			happens, back = n.down, n.up
		}
		w.cost(&sum, w.nodes[1], happens)
		back()
	}
	line, bound := sum.Line("bgp/"+bgp.ProfileLan, scenario, w.bound(scenario)), w.bound(scenario)
	figures.Write(w.t, line)
	if most := time.Duration(line.MaxMs * float64(time.Millisecond)); most > bound+added {
		w.t.Errorf("%s costs %v, computed %v", scenario, most, bound)
	}
	if scenario == figures.NodeDown && line.Failed == 0 {
		w.t.Errorf("%s has cost nothing: it has not happened", scenario)
	}
}

// cost adds what clients lose by something. Others ask a node by its own address meanwhile, to which nothing
// happens.
func (w *world) cost(sum *figures.Sum, unaffected *node, happens func()) {
	w.t.Helper()
	// Nothing is lost here without an answer, and a busy machine keeps clients waiting.
	const every, patience = 10 * time.Millisecond, 900 * time.Millisecond
	clients := traffic.Probe(w.f.Client.Dial, "https://"+netip.AddrPortFrom(fabric.VIP4, 6443).String()+"/readyz", w.trust(), every, patience)
	control := traffic.Probe(w.f.Client.Dial, "https://"+netip.AddrPortFrom(unaffected.address, 6443).String()+"/readyz", w.trust(), every, patience)
	time.Sleep(500 * time.Millisecond)
	begun := time.Now()
	happens()
	// The balancer's own check fails later than that, which makes the path longer and costs nothing more.
	time.Sleep(2 * time.Second)
	all, others := clients.Stop().Since(begun), control.Stop()
	late := all.Unserved()
	bad := figures.Unexcused(late, others)
	last := time.Duration(0)
	for _, r := range bad {
		last = max(last, r.Start.Sub(begun))
		w.t.Logf("%s %v after it began: %v", r.Outcome, r.Start.Sub(begun).Round(time.Millisecond), r.Err)
	}
	sum.Add(last, len(bad), len(all))
	sum.Excused += len(late) - len(bad)
}

// rest measures the processor time of a node's monitor of VIPs while nothing happens.
func (w *world) rest() {
	w.t.Helper()
	if !figures.Wanted(w.t, figures.AtRest) {
		return
	}
	pid, err := w.nodes[0].PID(monitor)
	w.must(err)
	before, err := figures.Processor(pid)
	w.must(err)
	begun := time.Now()
	time.Sleep(figures.Lasts(w.t, figures.Rest, time.Minute))
	after, err := figures.Processor(pid)
	w.must(err)
	line := figures.Line{Profile: "monitor of VIPs", Scenario: figures.AtRest, Figure: "processes", Runs: 1, Seconds: time.Since(begun).Seconds(), RSS: figures.Resident(pid)}
	line.CPU = 100 * (after - before) / line.Seconds
	figures.Write(w.t, line)
	if line.RSS == 0 || line.CPU > 5 {
		w.t.Errorf("at rest the monitor has %.1f %% of a core and %d kB", line.CPU, line.RSS)
	}
}

// loaded holds that nothing is withdrawn while all processors are busy.
func (w *world) loaded() {
	w.t.Helper()
	lasts := figures.Lasts(w.t, figures.Load, 10*time.Minute)
	if !figures.Wanted(w.t, figures.UnderLoad) || lasts == 0 {
		return
	}
	w.until("routers lead to all", 90*time.Second, w.spread)
	stop, err := w.nodes[0].Host.Hog(w.t.Context(), lab.Hog{Loops: 3 * runtime.NumCPU(), For: lasts + time.Minute})
	w.must(err)
	line := figures.Line{Profile: "checks", Scenario: figures.UnderLoad, Figure: "withdrawals", Runs: 1}
	begun, was := time.Now(), true
	for time.Since(begun) < lasts {
		is := w.spread()
		if was && !is {
			line.Lost++
		}
		was = is
		time.Sleep(20 * time.Millisecond)
	}
	w.must(stop())
	line.Seconds = time.Since(begun).Seconds()
	figures.Write(w.t, line)
	if line.Lost > 0 {
		w.t.Errorf("%d times in %v of load a node was withdrawn that serves", line.Lost, lasts)
	}
}
