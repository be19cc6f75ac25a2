// Package speak decides what a host announces to its routers: when a VIP's address and its route
// come and go, and in which order, so that no router sends to a host what it does not serve, and a
// host that leaves loses no connection.
package speak

import (
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
)

// Wish is what a host's monitor wants of its speaker.
type Wish struct {
	Beat time.Time            // when the monitor was alive last, by the clock of Observed.Now
	VIPs map[netip.Addr]Route // that the host serves
	// Leaving asks the host to release all VIPs in order.
	Leaving bool
	// Died reports that the monitor has died, not ended in order, and that no new one has asked
	// for anything since. It is not known what the host still serves: it is behind all others.
	Died bool
}

// Route is how a host announces a VIP.
type Route struct {
	Grade     bgp.Grade
	Demotions []bgp.Grade // the grades by which it leaves, see bgp.Policy
	// Behind reports that another host is preferred to this one, and has to announce first.
	Behind bool
	// Ends reports that all hosts stop announcing the VIP, and this one, which serves it, last.
	Ends bool
	// Leaves reports that this host is to release the VIP in order, although it serves it.
	Leaves bool
}

// next is the grade that a host which leaves uses after from, for a longer path; it is from at
// the last step. from may be better than the route's grade, if that has just changed.
func (r Route) next(from bgp.Grade) bgp.Grade {
	if from < r.Grade {
		return from + 1
	}
	for _, g := range r.Demotions {
		if g > from {
			return g
		}
	}
	return from
}

// Observed is what a round has seen.
type Observed struct {
	Now  time.Time
	Wish Wish
	// Ready reports whether routes that are announced now would stay in one session at least.
	Ready bool
	// Advertised are the VIPs that some router has from this host.
	Advertised map[netip.Addr]bool
	// Unsure reports that it is not known what the daemon has, as it does not answer: routers may
	// have all that it was given.
	Unsure bool
	// Others are the VIPs to which a router knows another way than through this host.
	Others map[netip.Addr]bool
}

// Phase is where a VIP is on a host.
type Phase string

// The phases. A VIP that the host does not serve, and whose address is away, is Idle.
const (
	Idle      Phase = "idle"
	Waiting   Phase = "waiting" // for a session that stays, or for the time after a withdrawal
	Announced Phase = "announced"
	// Demoted is announced behind all others: before it is withdrawn, or without a monitor.
	Demoted   Phase = "demoted"
	Withdrawn Phase = "withdrawn" // its address goes when no router sends to it any more
)

// VIP is one VIP's state.
type VIP struct {
	Phase Phase
	Since time.Time
	Clear time.Time // since when no router has it any more; zero while one has
	Begun time.Time // when the last step of the demotions was made
	Other time.Time // since when a router has reported another way, at the last step
	// Grade is the grade with which the VIP is announced, and Longer when its path last became
	// longer; zero if it has not since the VIP was announced, or its path became shorter.
	Grade  bgp.Grade
	Longer time.Time
	Able   time.Time // since when it could be announced, and waits for the host in front
	// Lost are when the VIP was withdrawn in the last minutes because the host did not serve it.
	Lost []time.Time
}

// State is the memory of a speaker, by VIP.
type State map[netip.Addr]VIP

// Decision is what the host is to do now.
type Decision struct {
	Announced map[netip.Addr]bgp.Grade
	Addresses []netip.Addr // on the host, sorted
	State     State
	// Disobeyed are VIPs that a router still has too long after the daemon was to withdraw them.
	// Only the end of the daemon withdraws them then.
	Disobeyed []netip.Addr
	// Again is when the next decision is due without a further event; the zero time for never.
	// Soon reports that the routes of routers are about to change, or are being passed on: the
	// result is to be observed at once.
	Again time.Time
	Soon  bool
	// Left reports that everything has ended in order.
	Left bool
	// Silent reports that the monitor has been silent for so long that the host leaves.
	Silent bool
}
