package release

import (
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
)

// story runs probes one second apart and returns the verdict after each.
func story(r State, probes ...Observation) []Verdict {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var verdicts []Verdict
	for _, l := range probes {
		at = at.Add(time.Second)
		l.At = at
		var v Verdict
		r, v = r.Next(l)
		verdicts = append(verdicts, v)
	}
	return verdicts
}

func times(n int, l Observation) []Observation {
	probes := make([]Observation, n)
	for i := range probes {
		probes[i] = l
	}
	return probes
}

func seq(parts ...[]Observation) []Observation {
	var all []Observation
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

var (
	ready     = Observation{API: health.Ready}
	gone      = Observation{API: health.Gone}
	notReady  = Observation{API: health.NotReady}
	goneBusy  = Observation{API: health.Gone, Ironic: true}
	announced = Observation{API: health.ShuttingDown}
	slow      = Observation{API: health.Ready, Took: time.Second}
	heir      = Observation{API: health.Ready, Heir: ReadyHeir}
	slowHeir  = Observation{API: health.Ready, Heir: ReadyHeir, Took: health.BootstrapAPI().Late()}
	hang      = []Observation{{API: health.Gone, Heir: ReadyHeir, Hangs: true}}
)

func TestRelease(t *testing.T) {
	tests := []struct {
		name   string
		from   State
		probes []Observation
		hold   bool
		why    string
		yield  bool
	}{
		{name: "before the first ready API the VIP stays", probes: times(60, gone), hold: true, why: "the local API has never been ready"},
		{name: "an API that has never been ready and answers 500 is still awaited", probes: times(60, notReady), hold: true, why: "the local API has never been ready"},
		{name: "ready", probes: times(3, ready), hold: true, why: "the local API is ready"},
		{name: "four failures may be a restart", probes: seq(times(1, ready), times(4, gone)), hold: true, why: "the local API is gone, which may be a restart"},
		{name: "the fifth failure gives the VIP up", probes: seq(times(1, ready), times(5, gone)), why: "the local API is gone and Ironic is away, 5 times in a row"},
		{name: "not ready counts as well as gone", probes: seq(times(1, ready), times(3, gone), times(2, notReady)), why: "the local API is not ready and Ironic is away, 5 times in a row"},
		{name: "K-35: the API returns after 6 s, and so does the VIP", probes: seq(times(1, ready), times(6, gone), times(1, ready)), hold: true, why: "the local API is ready"},
		{name: "given up for good while the API is away", probes: seq(times(1, ready), times(600, gone)), why: "the local API is gone, the VIP has been released"},
		{name: "a good probe starts the count anew", probes: seq(times(1, ready), times(4, gone), times(1, ready), times(4, gone)), hold: true, why: "the local API is gone, which may be a restart"},
		{name: "K-37: Ironic up keeps the VIP", probes: seq(times(1, ready), times(600, goneBusy)), hold: true, why: "the local API is gone, Ironic still serves through the VIP"},
		{name: "K-37: Ironic leaves the count unchanged", probes: seq(times(1, ready), times(3, gone), times(50, goneBusy), times(1, gone)), hold: true, why: "the local API is gone, which may be a restart"},
		{name: "K-37: the count goes on after Ironic", probes: seq(times(1, ready), times(3, gone), times(50, goneBusy), times(2, gone)), why: "the local API is gone and Ironic is away, 5 times in a row"},
		{name: "K-41: an announced shutdown without a ready master keeps the VIP", probes: seq(times(1, ready), times(70, announced)), hold: true, why: "the local API announces its shutdown, no master is ready"},
		{name: "an announced shutdown does not count", probes: seq(times(1, ready), times(70, announced), times(4, gone)), hold: true, why: "the local API is gone, which may be a restart"},
		{name: "K-41: an announced shutdown with a ready master gives the VIP up at once",
			probes: seq(times(1, ready), []Observation{{API: health.ShuttingDown, Heir: ReadyHeir}}), why: "the local API announces its shutdown and a master is ready", yield: true},
		{name: "K-41: the hand-over goes on while the API announces its shutdown, whoever is ready",
			probes: seq(times(1, ready), []Observation{{API: health.ShuttingDown, Heir: ReadyHeir}}, times(9, announced)), why: "the local API announces its shutdown and a master is ready", yield: true},
		{name: "K-34: an API that is gone during the hand-over is not waited for", probes: seq(times(1, ready), []Observation{{API: health.ShuttingDown, Heir: ReadyHeir}}, times(1, gone)),
			why: "the local API is gone, the VIP has been released"},
		{name: "K-34: and not when it comes back to announce its shutdown", probes: seq(times(1, ready), []Observation{{API: health.ShuttingDown, Heir: ReadyHeir}}, times(1, gone), times(1, announced)),
			why: "the local API is shutting down, the VIP has been released"},
		{name: "K-35: the shutdown was a restart, and the VIP is taken back", probes: seq(times(1, ready), []Observation{{API: health.ShuttingDown, Heir: ReadyHeir}}, times(1, ready)), hold: true, why: "the local API is ready"},
		{name: "K-37: an announced shutdown with a ready master waits for Ironic",
			probes: seq(times(1, ready), times(60, Observation{API: health.ShuttingDown, Heir: ReadyHeir, Ironic: true})), hold: true, why: "the local API is shutting down, Ironic still serves through the VIP"},
		{name: "K-41: an announced shutdown counts when a master may be ready",
			probes: seq(times(1, ready), times(5, Observation{API: health.ShuttingDown, Heir: DoubtedHeir})), why: "the local API is shutting down and Ironic is away, 5 times in a row"},
		{name: "an API that hangs gives the VIP up at once where a master is ready", probes: seq(times(1, ready), []Observation{{API: health.Gone, Heir: ReadyHeir, Hangs: true}}),
			why: "the local API hangs, Ironic is away, and a master is ready"},
		{name: "and not while Ironic serves", probes: seq(times(1, ready), []Observation{{API: health.Gone, Heir: ReadyHeir, Hangs: true, Ironic: true}}), hold: true, why: "the local API is gone, Ironic still serves through the VIP"},
		{name: "nor before it was ready once", probes: []Observation{{API: health.Gone, Heir: ReadyHeir, Hangs: true}}, hold: true, why: "the local API has never been ready"},
		{name: "K-35: nor does one that is gone", probes: seq(times(1, ready), []Observation{{API: health.Gone, Heir: ReadyHeir}}), hold: true, why: "the local API is gone, which may be a restart"},
		{name: "an API that hung takes the VIP back when it was prompt for a while", probes: seq(times(1, ready), hang, times(5, heir)), hold: true, why: "the local API is ready"},
		{name: "an API that hung takes the VIP back at once if no master is ready any more", probes: seq(times(1, ready), hang, times(3, slowHeir), []Observation{{API: health.Ready, Heir: NoHeir, Took: health.BootstrapAPI().Late()}}), hold: true, why: "the local API is ready"},
		{name: "and not before", probes: seq(times(1, ready), hang, times(4, heir)), why: "the local API has hung, and has not been ready and prompt for long"},
		{name: "nor if it was slow among these", probes: seq(times(1, ready), hang, times(4, heir), times(1, slowHeir), times(4, heir)), why: "the local API has hung, and has not been ready and prompt for long"},
		{name: "nor if it was away among these", probes: seq(times(1, ready), hang, times(4, heir), times(1, gone), times(4, heir)), why: "the local API has hung, and has not been ready and prompt for long"},
		{name: "what hung is forgotten then", probes: seq(times(1, ready), hang, times(5, heir), times(5, gone), times(1, slow)), hold: true, why: "the local API is ready"},
		{name: "an API that is not trusted counts", probes: seq(times(1, ready), times(5, Observation{API: health.Untrusted})), why: "the local API is not trusted and Ironic is away, 5 times in a row"},
		{name: "a ready master alone takes nothing", probes: seq(times(1, ready), []Observation{{API: health.Ready, Heir: ReadyHeir}}), hold: true, why: "the local API is ready"},
		{name: "K-39: 20 minutes to the first ready API", probes: seq(times(20*60, gone), times(1, ready)), hold: true, why: "the local API is ready"},
		{name: "half an hour is the end of waiting", probes: times(30*60+5, gone), why: "the local API is gone and Ironic is away, 5 times in a row"},
		{name: "half an hour less one probe is not", probes: times(30*60, gone), hold: true, why: "the local API has never been ready"},
		{name: "K-34: a restart after the end does not take the VIP back", from: Resume(false), probes: times(1, gone), why: "the local API is gone, the VIP has been released"},
		{name: "a restart, or a reboot, takes it when the API serves", from: Resume(false), probes: times(1, ready), hold: true, why: "the local API is ready"},
		{name: "a restart while the API restarts keeps the VIP", from: Resume(true), probes: times(4, gone), hold: true, why: "the local API is gone, which may be a restart"},
		{name: "a restart does not give an API that is gone more than a new count", from: Resume(true), probes: times(5, gone), why: "the local API is gone and Ironic is away, 5 times in a row"},
		{name: "K-37: a restart while Ironic serves keeps the VIP", from: Resume(true), probes: times(60, goneBusy), hold: true, why: "the local API is gone, Ironic still serves through the VIP"},
		{name: "K-41: a restart during an announced shutdown keeps the VIP", from: Resume(true), probes: times(60, announced), hold: true, why: "the local API announces its shutdown, no master is ready"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			verdicts := story(tt.from, tt.probes...)
			if got, want := verdicts[len(verdicts)-1], (Verdict{Hold: tt.hold, Yield: tt.yield, Why: tt.why}); got != want {
				t.Errorf("after %d probes: %+v, want %+v", len(tt.probes), got, want)
			}
		})
	}
}

// TestReleaseNeverLeavesBeforeReady holds over every sequence of six probes that the VIP never
// leaves before the API was ready once.
func TestReleaseNeverLeavesBeforeReady(t *testing.T) {
	bad := []Observation{gone, notReady, goneBusy, announced, {API: health.ShuttingDown, Heir: ReadyHeir}, {API: health.Untrusted}}
	var walk func(prefix []Observation)
	walk = func(prefix []Observation) {
		if len(prefix) == 6 {
			for _, v := range story(State{}, prefix...) {
				if !v.Hold {
					t.Fatalf("%v: %+v", prefix, v)
				}
			}
			return
		}
		for _, l := range bad {
			walk(append(prefix[:len(prefix):len(prefix)], l))
		}
	}
	walk(nil)
}

// TestJudgeLate holds how long an answer is waited for: no longer than a hang takes if a node is ready
// and Ironic is away, else until the last of the two probes times out.
func TestJudgeLate(t *testing.T) {
	p := health.BootstrapAPI()
	gone, hangs := Observation{API: health.Gone}, Observation{API: health.Gone, Heir: ReadyHeir, Hangs: true}
	after := State{unready: true} // Ironic is probed from the start
	for _, tt := range []struct {
		name    string
		state   State
		elapsed time.Duration
		heir    Heir
		ironic  bool
		found   Observation
		wait    time.Duration
	}{
		{"it begins", State{}, 0, ReadyHeir, false, Observation{}, p.Hang},
		{"not for long enough", State{}, p.Hang - 1, ReadyHeir, false, Observation{}, 1},
		{"a node is ready", State{}, p.Hang, ReadyHeir, false, hangs, 0},
		{"a node becomes ready", State{}, p.Timeout, ReadyHeir, false, hangs, 0},
		{"no node is ready", State{}, p.Hang, NoHeir, false, Observation{}, p.Timeout + p.Late() - p.Hang},
		{"one may be ready", State{}, p.Hang, DoubtedHeir, false, Observation{}, p.Timeout + p.Late() - p.Hang},
		{"Ironic serves", State{}, p.Hang, ReadyHeir, true, Observation{}, p.Timeout + p.Late() - p.Hang},
		{"both time out", State{}, p.Timeout + p.Late(), NoHeir, false, gone, 0},
		{"both time out together", after, p.Timeout, NoHeir, false, gone, 0},
		{"it times out, and Ironic serves", after, p.Timeout, ReadyHeir, true, Observation{API: health.Gone, Heir: ReadyHeir, Ironic: true}, 0},
	} {
		found, wait := tt.state.JudgeLate(tt.elapsed, tt.heir, tt.ironic)
		if found != tt.found || wait != tt.wait {
			t.Errorf("%s: %+v after %v, want %+v after %v", tt.name, found, wait, tt.found, tt.wait)
		}
	}
}
