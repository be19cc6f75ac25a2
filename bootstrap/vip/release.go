package vip

import (
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
)

// firstReadyWithin is how long a first healthy API is waited for: slow hosts need many minutes to pull a release. Afterwards the same rules
// hold as if it had been seen.
const firstReadyWithin = 30 * time.Minute

// Look is one look at what the VIP is held for.
type Look struct {
	At  time.Time
	API health.API // the API server of this machine
	// Ironic says whether the provisioning service answers at all. It is asked only when the API is not ready: hosts that are being
	// provisioned reach it through the VIP.
	Ironic bool
	// Heir is looked for only when the API announces its shutdown.
	Heir Heir
}

// Verdict is whether this machine takes part in the election of the API VIP, and why.
type Verdict struct {
	Hold  bool
	Yield bool // it is to leave as one that still serves: when a control plane node has been heard that took over. Not with Hold.
	Why   string
}

// Release decides when the VIP leaves this machine, as a state machine without a clock of its own: time comes with each Look.
// The zero value has not looked yet.
//
//	waiting --API ready, or 30 min--> holding --5 failures in a row, or shutdown announced and a master ready--> released
//	                                     ^------------------------------ API ready ------------------------------------'
//
// While Ironic answers nothing counts, not even an announced shutdown: hosts that are being provisioned would lose it. An announced shutdown
// is a failure like any other when it is not known whether somebody could take over, and none when it is known that nobody could. When somebody
// can, the VIP is handed over while the API still serves. Every other end leaves a gap: the VIP is nobody's for the 0.7 s or so in which a node that
// hears priority 0 waits for better ones (RFC 3768, Skew_Time), and so does an API that is gone before the VIP is.
//
// It goes back from released because an API server that restarts during the installation looks like one that ends, and because
// without the VIP on this machine the installation cannot go on.
type Release struct {
	phase    phase
	yields   bool      // released while the API still served
	since    time.Time // of the first Look
	failures int
}

type phase int

const (
	waiting phase = iota
	holding
	released
)

// Resume is where a machine goes on that has already seen its API ready. A restart of this program changes nothing: a machine that held
// the VIP goes on holding it, with a new count, and one that had given it up has given it up. After a reboot, when nothing is held,
// the API must be ready first.
func Resume(held bool) Release {
	if held {
		return Release{phase: holding}
	}
	return Release{phase: released}
}

// Memory is what a later start of this program must know.
type Memory struct {
	SeenReady bool // the API has been ready once; outlives a reboot
	Holding   bool // the VIP has not been given up since; does not
}

// Memory is what to keep of the state.
func (r Release) Memory() Memory {
	return Memory{SeenReady: r.phase != waiting, Holding: r.phase == holding}
}

// Next is the state after one more look, and its verdict.
func (r Release) Next(l Look) (Release, Verdict) {
	if r.since.IsZero() {
		r.since = l.At
	}
	if l.API == health.Ready {
		r.phase, r.failures, r.yields = holding, 0, false
		return r, Verdict{Hold: true, Why: "the local API is ready"}
	}
	if r.phase == waiting {
		if l.At.Sub(r.since) < firstReadyWithin {
			return r, Verdict{Hold: true, Why: "the local API has never been ready"}
		}
		r.phase = holding
	}
	if r.yields = r.yields && l.API == health.ShuttingDown; r.yields {
		return r, yields()
	}
	if r.phase == released {
		return r, Verdict{Why: fmt.Sprintf("the local API is %s, the VIP has been given up", l.API)}
	}
	return r.notReady(l)
}

func yields() Verdict {
	return Verdict{Yield: true, Why: "the local API announces its shutdown and a master is ready"}
}

// notReady weighs an API that was ready once and is not now.
func (r Release) notReady(l Look) (Release, Verdict) {
	switch {
	case l.Ironic:
		// Not a success either: the count stays, so that the end of provisioning does not start it anew.
		return r, Verdict{Hold: true, Why: fmt.Sprintf("the local API is %s, Ironic still serves through the VIP", l.API)}
	case l.API == health.ShuttingDown && l.Heir == ReadyHeir:
		r.phase, r.yields = released, true
		return r, yields()
	case l.API == health.ShuttingDown && l.Heir == NoHeir:
		// It still serves, and nobody else would.
		return r, Verdict{Hold: true, Why: "the local API announces its shutdown, no master is ready"}
	}
	r.failures++
	if r.failures >= health.BootstrapAPI().Fall {
		r.phase = released
		return r, Verdict{Why: fmt.Sprintf("the local API is %s and Ironic is away, %d times in a row", l.API, r.failures)}
	}
	// Without the count, so that the log has one line for one outage.
	return r, Verdict{Hold: true, Why: fmt.Sprintf("the local API is %s, which may be a restart", l.API)}
}
