// Package bonus decides, while keepalived runs, which holder bonus a VRRP instance has: the
// supervisor and the simulator ask it.
package bonus

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// The numbers of an instance's tracked file, by which keepalived multiplies the weight of the
// bonus.
//
// The holder bonus keeps a VIP where it is when a router of a better rank returns. A new holder's
// first advert is without it, as keepalived reports MASTER only after that advert. Routers that
// waited with the new holder receive the second advert in time. A router that began to wait later,
// because its keepalived has just started, would take over between the two. So an instance that
// begins is as far below its rank as the bonus would lift it, until every router that waited before
// must have advertised: then the first advert restarts its wait. Instances that begin together keep
// the order of their ranks, health counts as before, and an instance that receives no advert takes
// over all the same.
const (
	Begins = -1
	None   = 0
	Holder = 1
	// Releases subtracts so much that it is a FAULT, whatever the bonus: keepalived advertises
	// priority 0, and other routers wait for their skew only. The fault ends when the instance has
	// no VIP.
	Releases = -254
)

// State is what an instance's bonus depends on. The zero value is an instance that has just
// begun.
type State struct {
	holder   bool
	releases bool
	held     bool // it has held the VIP since it began
	// when it began to wait without having held the VIP; zero if it does not wait
	since time.Time
}

// IsHolder reports whether the instance is MASTER.
func (s State) IsHolder() bool { return s.holder }

// Release is the state of an instance that is to release its VIP.
func (s State) Release() State {
	s.releases = true
	return s
}

// Next is the state after keepalived has reported one.
func (s State) Next(reported supervised.State, now time.Time) State {
	switch {
	case reported == supervised.Master:
		return State{holder: true, held: true, releases: s.releases}
	case reported != supervised.Backup:
		return State{}
	case s.held || !s.since.IsZero():
		return State{since: s.since, held: s.held}
	default:
		return State{since: now}
	}
}

// Settles is when an instance that waits has waited for long enough; zero if it does not wait.
func (s State) Settles(patience time.Duration) time.Time {
	if s.since.IsZero() {
		return time.Time{}
	}
	return s.since.Add(patience)
}

// Number is what the instance's tracked file holds.
func (s State) Number(patience time.Duration, now time.Time) int {
	settles := s.Settles(patience)
	switch {
	case s.releases:
		return Releases
	case s.holder:
		return Holder
	case s.held, !settles.IsZero() && !now.Before(settles):
		return None
	default:
		return Begins
	}
}
