// Package mdns announces a node by multicast DNS on the interface that has the node's address, so
// that a cluster finds its hosts before any API exists.
package mdns

import (
	"context"
	"net/netip"
	"sync"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/announce"
	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// The files that the room reads.
const (
	// HostnameFile is what the host is called, noted by NetworkManager's hook: not every container
	// runtime lets a pod see a name that the host gets after the pod has started.
	HostnameFile = "/run/onprem-infra/mdns/hostname"
	// AgreedDir is where node-ip writes what it has chosen.
	AgreedDir = "/run/nodeip-configuration"
)

// Host is what the room needs to know of the machine, and what it may do there.
type Host interface {
	Links() (addr.Snapshot, error)
	// Agreed are the addresses that node-ip has chosen, at most one a family, the primary one
	// first; none when it has not.
	Agreed() ([]netip.Addr, error)
	// Hostname is what the host is called now.
	Hostname() (string, error)
	// Open makes sockets on an interface. What comes in there is given to hear, and deaf is told
	// when nothing can come any more, both by other goroutines, which Close waits for.
	Open(ctx context.Context, w Where, hear func(wire.Packet), deaf func(error)) (Line, error)
	// Wake has the room turn again.
	Wake()
}

// Where says on which interface to speak, and as whom.
type Where struct {
	Index int
	Name  string
	From4 netip.Addr // the zero value when the node has no IPv4 there
	IPv6  bool
}

// families are those that are spoken, in words.
func (w Where) families() string {
	switch {
	case w.From4.IsValid() && w.IPv6:
		return "IPv4 and IPv6"
	case w.From4.IsValid():
		return "IPv4"
	}
	return "IPv6"
}

// like says that what is spoken on is the same, though maybe in another family.
func (w Where) like(other Where) bool {
	other.IPv6 = w.IPv6
	return w == other
}

// Line are sockets on one interface.
type Line interface {
	Send(wire.Outgoing) error
	Close()
}

// Room is a node's announcement. Its methods are the steps of a loop and for one goroutine.
type Room struct {
	plan   plan.Plan
	role   role.Role
	host   Host
	jitter wire.Jitter

	mu     sync.Mutex
	claims []announce.Claim // as the last decision saw them, for Metrics

	station *station // nil while nothing is announced
	where   Where    // of the station
}

// New makes a room for a node of a role in the cluster of p.
func New(p plan.Plan, r role.Role, host Host, jitter wire.Jitter) *Room {
	return &Room{plan: p, role: r, host: host, jitter: jitter}
}

// Metrics writes what the room's metrics are now. It may be called by any goroutine.
func (r *Room) Metrics(page *metrics.Page) {
	r.mu.Lock()
	defer r.mu.Unlock()
	states := metrics.Announcement{}
	for _, state := range []announce.State{announce.Probing, announce.Announcing, announce.Established, announce.Lost} {
		states[string(state)] = 0
	}
	for _, claim := range r.claims {
		states[string(claim.State)]++
	}
	states.Onto(page)
}

// Snapshot is all that the decision depends on.
type Snapshot struct {
	Links    addr.Snapshot
	Agreed   []netip.Addr
	Hostname string
	Claims   []announce.Claim // what has become of what was announced
	At       Where            // where it was
}

// Desired is what should be announced, and where. Without a host nothing is.
type Desired struct {
	Where Where
	Link  wire.Link
	Hosts []announce.Host
}

// said is what a station and its room tell each other.
type said struct {
	mu     sync.Mutex
	claims []announce.Claim
	err    error // why the station speaks no more, or could not say the last thing
	over   bool  // it has ended by itself
}
