package world

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/speak"
)

// Span is a time that is not always the same.
type Span struct{ least, most time.Duration }

const ms, s = time.Millisecond, time.Second

// FRR and the network.
var (
	Collects = Span{50 * ms, 60 * ms}   // bgpd collects changes and works on them
	Connects = Span{50 * ms, 1000 * ms} // until the next try to reach a router
	Wire     = time.Duration(ms)        // until a message arrives
	Resends  = 200 * ms                 // until TCP sends a lost message again
	BFDUp    = Span{100 * ms, 900 * ms} // until BFD is up, after its session
	Starts   = Span{100 * ms, 400 * ms} // until a daemon of FRR has started again
	AllStart = Span{800 * ms, 1500 * ms}
)

// Flaps is the likelihood, in percent, that BFD ends a new session once when it comes up
// (FRR#17337).
func Flaps() int { return 50 }

// Rounds of a speaker: the longest time between two, and the time to the next one while something
// changes.
const (
	Round = time.Second
	Next  = 20 * ms
)

// Hosts.
var (
	Shutdown = Span{500 * ms, 2 * s} // from FRR's end to the power's, in order
	Boots    = Span{15 * s, 30 * s}  // from the power to the host's programs
	BootAPI  = Span{2 * s, 5 * s}    // and to its API server
	Restarts = Span{1000 * ms, 1300 * ms}
	Clocks   = Span{0, time.Second} // the clock of a node, behind that of others
	Beats    = Span{0, time.Second} // since the last beat of a monitor
	Notices  = Span{0, speak.Notice}
	Forwards = Span{20 * s, 40 * s} // a router, from its power until it forwards
	LameDuck = 12 * s               // how long an API server serves after SIGTERM
)

// Settles is how long a cluster runs before a schedule begins.
const Settles = 12 * s

// Slack is what machines take beside the product's times.
const Slack = 20 * ms
