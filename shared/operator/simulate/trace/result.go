// Package trace is what came of a run in virtual time: holders, requests, broken rules, pictures.
package trace

import (
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
	Late    Outcome = "late"  // no answer in the client's patience
	Reset   Outcome = "reset" // the connection was there, and went with the VIP
)

// Request is one request of the client.
type Request struct {
	At      time.Duration
	Outcome Outcome
	Host    string // that had the VIP; empty for none
}
