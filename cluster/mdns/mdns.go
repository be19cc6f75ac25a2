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
	// HostnameFile holds the host's name, from NetworkManager's hook: with some container runtimes
	// a pod does not see a name that the host gets after the pod has started.
	HostnameFile = "/run/onprem-infra/mdns/hostname"
	// AgreedDir is where node-ip writes its choice.
	AgreedDir = "/run/nodeip-configuration"
)

// Host is the machine as the room needs it.
type Host interface {
	Links() (addr.Snapshot, error)
	// Agreed are the addresses that node-ip has chosen, at most one a family, the primary one
	// first; none before its choice.
	Agreed() ([]netip.Addr, error)
	Hostname() (string, error)
	// Open makes sockets on an interface. Other goroutines call receive for each packet, and failed
	// when no more can arrive. Close waits for them.
	Open(ctx context.Context, w Where, receive func(wire.Packet), failed func(error)) (Line, error)
	// Wake starts another round of the room.
	Wake()
}

// Where is the interface to announce on, with the source addresses there.
type Where struct {
	Index int
	Name  string
	From4 netip.Addr // the zero value when the node has no IPv4 there
	IPv6  bool
}

// families are the address families in use, as text.
func (w Where) families() string {
	switch {
	case w.From4.IsValid() && w.IPv6:
		return "IPv4 and IPv6"
	case w.From4.IsValid():
		return "IPv4"
	}
	return "IPv6"
}

// like reports whether the interface and the IPv4 address are the same.
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
	claims []announce.Claim // of the last round, for Metrics

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
	for _, state := range announce.States() {
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
	Claims   []announce.Claim // the state of what is announced
	At       Where            // where it is announced
}

// Desired is what to announce, and where; nothing without a host.
type Desired struct {
	Where Where
	Link  wire.Link
	Hosts []wire.Host
}
