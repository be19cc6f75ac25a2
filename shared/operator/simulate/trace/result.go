// Package trace is what came of a run in virtual time: holders, requests, broken rules, pictures.
package trace

import (
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
)

// Result is the result of a run.
type Result struct {
	Cluster  schedule.Cluster
	Schedule schedule.Schedule
	Holders  []Holding // without gaps in time
	Requests []Request
	Notes    []Note
	Broken   []Broken

	Films []*Film // of each host
}

// Holding is a time in which the same hosts had the VIP on an interface.
type Holding struct {
	From, To time.Duration
	Hosts    []string
}

// Note is an event on a host.
type Note struct {
	At   time.Duration
	Host string
	Text string
}

// Outcome is the outcome of a request.
type Outcome string

// The outcomes, as the lab's clients have them.
const (
	Served  Outcome = "served"
	Refused Outcome = "refused"
	Late    Outcome = "late"  // no answer within the client's timeout
	Reset   Outcome = "reset" // the host lost the VIP while the connection was open
)

// Request is one request of the client.
type Request struct {
	At      time.Duration
	Outcome Outcome
	Host    string // that had the VIP; empty for none
}

// Rule is what must hold in every run.
type Rule string

// The rules. OneTaker and NoNeed are for a policy with ranks and a holder bonus.
const (
	OneHolder  Rule = "never two holders for longer than an advert and the skew once packets flow"
	SomeHolder Rule = "never no holder for longer than the slowest backup waits while one lives"
	NoRemnant  Rule = "no VIP stays on a host whose keepalived is dead for longer than its restart"
	Gate       Rule = "no node holds the VIP before it has seen the API work"
	Stays      Rule = "the VIP does not leave a bootstrap machine that serves"
	OneTaker   Rule = "no two nodes take the VIP at once"
	NoNeed     Rule = "the VIP does not leave a node that is as healthy as the next"
	Neighbours Rule = "the network knows where the VIP is after the second announcement"
)

// Broken is a rule that was broken.
type Broken struct {
	At   time.Duration
	Rule Rule
	Why  string
}

func (b Broken) String() string { return fmt.Sprintf("%v: %s: %s", b.At, b.Rule, b.Why) }

// Text is the run in a few lines: its holders by time, and broken rules.
func (r Result) Text() string {
	var text string
	for _, h := range r.Holders {
		holders := "no holder"
		if len(h.Hosts) > 0 {
			holders = fmt.Sprint(h.Hosts)
			holders = holders[1 : len(holders)-1]
		}
		text += fmt.Sprintf("%12v  %12v  %s\n", h.From.Round(100*time.Microsecond),
			(h.To - h.From).Round(100*time.Microsecond), holders)
	}
	for _, b := range r.Broken {
		text += fmt.Sprintln("broken:", b)
	}
	return text
}
