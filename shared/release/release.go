// Package release decides when the bootstrap machine releases the VIP: from what its probes found
// of its own API server, of Ironic and of the control plane nodes. The bootstrap machine and the
// simulator run the same decision.
package release

import (
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
)

// firstReadyWithin is how long the first ready API is waited for: slow hosts need many minutes to
// pull a release image. After it the same rules apply as if the API had been ready.
const firstReadyWithin = 30 * time.Minute

// promptAgain is how many prompt answers in a row an API that hung needs to take the VIP back.
const promptAgain = 5

// Observation is what one round of probes found.
type Observation struct {
	At  time.Time
	API health.API // the API server of the local host
	// Took is how long the API took to answer.
	Took time.Duration
	// Ironic reports whether the provisioning service answers. It is probed only if the API is not
	// ready: hosts that are being provisioned reach it through the VIP.
	Ironic bool
	// Heir is probed only if the API announces its shutdown, or is late, or hung before.
	Heir Heir
	// Hangs reports that the API, which counts as gone, and Ironic have not answered for
	// health.Policy.Hang. It is set beside a ready heir only.
	Hangs bool
}

// Verdict reports whether the bootstrap machine is a candidate for the API VIP, and why.
type Verdict struct {
	Hold bool
	// Yield asks for a handover: the machine still serves, and stops when it has observed a
	// control plane node that took over. It is never set beside Hold.
	Yield bool
	Why   string
}

// State decides when the VIP leaves the bootstrap machine. It is a state machine without a clock:
// time comes with each Observation. The zero value has observed nothing.
//
//	waiting  --> holding   the API is ready, or 30 min have passed
//	holding  --> released  5 failures in a row; or a shutdown is announced, or both hang, and a
//	                       master is ready
//	released --> holding   the API is ready
//
// While Ironic answers, nothing else counts, not even an announced shutdown: hosts that are being
// provisioned would lose it. An announced shutdown counts as a failure if it is not known whether a
// node could take over, and does not count if no node can. If a node can, the VIP is handed over
// while the API still serves. Every other end leaves a gap: the VIP has no holder for the 0.7 s or
// so which a backup waits after priority 0 (RFC 3768, Skew_Time), or from the API's end until the
// VIP follows.
//
// An API that becomes ready again takes the VIP back: an API server that restarts during the
// installation looks like one that ends, and without the VIP the installation cannot go on. One
// that hung while a master was ready must answer promptly for a while first, as long as a master is
// ready: it may only be slow, and each move cuts every connection.
type State struct {
	phase    phase
	yields   bool      // released while the API still served
	hung     bool      // released because the API hung
	prompt   int       // answers of a ready API in a row that came in time
	since    time.Time // of the first Observation
	failures int
	unready  bool // the last Observation was not of a ready API
}

type phase int

const (
	waiting phase = iota
	holding
	released
)

// Resume is the state of a machine that has had a ready API before. A restart of the program
// loses the counts, a handover in progress, and the rule that an API which hung must be prompt.
// Nothing else changes: a machine that held the VIP goes on holding it, and one that had released
// it stays released. After a reboot nothing is held, and the API must be ready first.
func Resume(held bool) State {
	if held {
		return State{phase: holding}
	}
	return State{phase: released}
}

// Memory is what a later start of the program must know.
type Memory struct {
	SeenReady bool // the API has been ready once; outlives a reboot
	Holding   bool // the VIP has not been released since; does not
}

// Memory is what to keep of the state.
func (s State) Memory() Memory {
	return Memory{SeenReady: s.phase != waiting, Holding: s.phase == holding}
}

// Hung reports whether the VIP was released because the API hung.
func (s State) Hung() bool { return s.hung }

// Released reports whether only a ready API can bring the VIP back.
func (s State) Released() bool { return s.phase == released }

// IronicAfter is how long the API may take to answer before Ironic is probed beside it: two
// servers that hang then cost one timeout. A machine that has released the VIP does not probe
// Ironic.
func (s State) IronicAfter() time.Duration {
	if s.unready {
		return 0
	}
	return health.BootstrapAPI().Late()
}

// JudgeLate judges a probe that the API has not answered for a time, from the state of the control
// plane nodes and from whether Ironic has answered. It returns how long to wait on, or 0 and what
// the probe found.
func (s State) JudgeLate(
	elapsed time.Duration, heir Heir, ironic bool,
) (found Observation, wait time.Duration) {
	p := health.BootstrapAPI()
	end := p.Timeout + s.IronicAfter()
	switch {
	case elapsed < p.Hang:
		return found, p.Hang - elapsed
	case heir == ReadyHeir && !ironic:
		return Observation{API: health.Gone, Heir: heir, Hangs: true}, 0
	case elapsed < end:
		return found, end - elapsed
	}
	return Observation{API: health.Gone, Heir: heir, Ironic: ironic}, 0
}

// Next is the state after one more observation, and its verdict.
func (s State) Next(o Observation) (State, Verdict) {
	if s.since.IsZero() {
		s.since = o.At
	}
	s.unready = o.API != health.Ready
	if o.API == health.Ready {
		return s.judgeReady(o)
	}
	s.prompt = 0
	if s.phase == waiting {
		if o.At.Sub(s.since) < firstReadyWithin {
			return s, Verdict{Hold: true, Why: "the local API has never been ready"}
		}
		s.phase = holding
	}
	if s.yields = s.yields && o.API == health.ShuttingDown; s.yields {
		return s, handover()
	}
	if s.phase == released {
		return s, Verdict{Why: fmt.Sprintf("the local API is %s, the VIP has been released", o.API)}
	}
	return s.judgeUnready(o)
}

// judgeReady has the API take the VIP, unless it hung before and may again.
func (s State) judgeReady(o Observation) (State, Verdict) {
	if s.prompt++; o.Took >= health.BootstrapAPI().Late() {
		s.prompt = 0
	}
	if s.hung && s.prompt < promptAgain && o.Heir == ReadyHeir {
		return s, Verdict{
			Why: "the local API has hung, and has not been ready and prompt for long"}
	}
	s.phase, s.failures, s.yields, s.hung = holding, 0, false, false
	return s, Verdict{Hold: true, Why: "the local API is ready"}
}

func handover() Verdict {
	return Verdict{Yield: true, Why: "the local API announces its shutdown and a master is ready"}
}

// judgeUnready weighs an API that was ready once and is not now.
func (s State) judgeUnready(o Observation) (State, Verdict) {
	switch {
	case o.Ironic:
		// Not a success either: the count stays, so that the end of provisioning does not reset
		// it.
		return s, Verdict{Hold: true,
			Why: fmt.Sprintf("the local API is %s, Ironic still serves through the VIP", o.API)}
	case o.API == health.ShuttingDown && o.Heir == ReadyHeir:
		s.phase, s.yields = released, true
		return s, handover()
	case o.API == health.ShuttingDown && o.Heir == NoHeir:
		// It still serves, and no other host would.
		return s, Verdict{Hold: true,
			Why: "the local API announces its shutdown, no master is ready"}
	}
	if o.Hangs && o.Heir == ReadyHeir {
		s.phase, s.hung = released, true
		return s, Verdict{Why: "the local API hangs, Ironic is away, and a master is ready"}
	}
	s.failures++
	if s.failures >= health.BootstrapAPI().Fall {
		s.phase = released
		return s,
			Verdict{Why: fmt.Sprintf("the local API is %s and Ironic is away, %d times in a row",
				o.API, s.failures)}
	}
	// Without the count, so that the log has one line for one outage.
	return s, Verdict{Hold: true,
		Why: fmt.Sprintf("the local API is %s, which may be a restart", o.API)}
}
