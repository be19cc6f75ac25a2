package chaos

import (
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/test/traffic"
)

// Record is all that was seen of a schedule, from outside. Times count from its beginning.
type Record struct {
	Schedule schedule.Schedule
	Nodes    []string
	Closed   bool // the gates are closed: only a host that serves before the nodes do may hold the VIP
	End      time.Duration
	Acts     []Act
	Late     time.Duration      // how late the observers were at worst
	States   map[string][]State // of each node, by time
	Views    []View
	Requests traffic.Requests // of clients of the first VIP
	Begin    time.Time        // that of the requests
}

// View is what was seen of one VIP.
type View struct {
	VIP     netip.Addr
	Holders []Holding // without gaps
	Beliefs []Belief
	Takes   []Take
	Adverts []Advert // among nodes, by time
}

// Advert is one that a node's switch port has seen, whether or not it got any further.
type Advert struct {
	At       time.Duration
	From, To string
	Priority int
}

// Act is a fault as it was done.
type Act struct {
	schedule.Fault               // with a node's name
	Began, Ended   time.Duration // until its undoing has returned
	Skipped        string        // why it could not be done; empty when it was
}

// Holding is a time in which the same hosts had the VIP.
type Holding struct {
	From, To time.Duration
	Hosts    []string
}

// Belief is a time in which a neighbour sent to the VIP at one host.
type Belief struct {
	Neighbour string
	From, To  time.Duration
	Host      string // whose link address it has; empty for none
}

// State is what a node's supervisor reports.
type State struct {
	At       time.Duration
	Priority int  // negative while it takes no part
	Able     bool // it could hold the VIP as far as its own health goes
}

// Take is a node that begins to announce itself as holder.
type Take struct {
	At       time.Duration
	Node     string
	Priority int
}

// Blurred reports whether the observers were so late that nothing can be said of the record.
func (r Record) Blurred() bool { return r.Late > blur }

// Done are the faults that were done.
func (r Record) Done() (all []Act) {
	for _, a := range r.Acts {
		if a.Skipped == "" {
			all = append(all, a)
		}
	}
	return all
}
