// Package dns keeps the node's CoreDNS configured: it answers api, api-int, *.apps and the names of
// nodes, forwards the rest to the name servers that the host has learnt, and serves on while the
// cluster's API is away.
package dns

import (
	"context"
	"net/netip"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/corefile"
	"github.com/onprem-infra/onprem-infra/shared/nameserver"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

const (
	// Config is where CoreDNS reads its configuration, on the host and in the containers.
	Config = "/etc/coredns/Corefile"
	// MemoryPath is where the nodes that the API named last are kept, so that they have names while
	// it is away.
	MemoryPath = "/var/lib/onprem-infra/dns-nodes.json"
)

// Command is what the container of CoreDNS runs. The monitor knows CoreDNS by these words among the
// processes of the pod.
func Command() []string { return []string{"coredns", "-conf", Config} }

// apart is the least time between two reloads. One that comes a second after another, when
// CoreDNS's health check asks itself for the first time, may take 5 s: see corefile.Render.
const apart = 1500 * time.Millisecond

// Host is what the room needs to know of the machine, and what it may do there.
type Host interface {
	Links() (addr.Snapshot, error)
	// Resolvers are the files that may name the host's own name servers, best first; those that do
	// not exist are left out.
	Resolvers() ([]nameserver.Resolver, error)
	// Write puts a file in place atomically and says whether it is another one.
	Write(path string, text []byte) (changed bool, err error)
	// Read is what the file holds, nil when there is none.
	Read(path string) ([]byte, error)
	// Now is a clock that never goes back, and Later has the room turn again after so long.
	Now() time.Time
	Later(time.Duration)
}

// Nodes is what the API says: on a control plane node of all nodes, elsewhere of the control
// plane's. synced is false until it has spoken.
type Nodes interface {
	Nodes() (nodes []addr.Candidate, synced bool)
}

// Daemon is the CoreDNS of this pod.
type Daemon interface {
	// Running says whether CoreDNS runs, and whether it is another one than at the call before.
	Running() (running, another bool)
	// Serves says whether it answers its health check, and so hears signals.
	Serves(ctx context.Context) bool
	Signal(sig syscall.Signal) error
}

// Options are what a Room needs.
type Options struct {
	Plan   plan.Plan
	Role   role.Role // of this node
	Header string    // the line of provenance for rendered files
	Host   Host
	Nodes  Nodes  // nil while the API cannot be asked
	Daemon Daemon // nil before CoreDNS is there
}

// Room is a node's DNS. Its methods are the steps of a loop and for one goroutine.
type Room struct {
	Options
	meter meter

	known  []addr.Candidate // that the API named last, to this run or to an earlier one
	loaded bool             // the memory was read

	read     bool      // CoreDNS has the Corefile that is in place
	reloaded time.Time // when it was told last
}

// New makes the room. Nothing happens before its first step.
func New(o Options) *Room { return &Room{Options: o} }

// Snapshot is all that the decision depends on.
type Snapshot struct {
	Links     addr.Snapshot
	Resolvers []nameserver.Resolver
	Nodes     []addr.Candidate
	Source    string // of the nodes' names: metrics.FromAPI, FromMemory or FromNone
}

// Desired is what should be there.
type Desired struct {
	Corefile corefile.Config
	Hosts    []corefile.Host  // none: nobody has named a node yet, and a file of an earlier run stays
	Memory   []addr.Candidate // none: nothing to remember that is not remembered
}

// self says whether an address leads back to a CoreDNS of this cluster: it is this machine's, a
// VIP, or a node's.
func (s Snapshot) self(p plan.Plan) map[netip.Addr]bool {
	self := map[netip.Addr]bool{}
	for _, link := range s.Links.Links {
		for _, a := range link.Addresses {
			self[a.Prefix.Addr()] = true
		}
	}
	for _, a := range p.VIPs.All() {
		self[a] = true
	}
	for _, n := range s.Nodes {
		for _, a := range n.InternalIPs {
			self[a.Unmap().WithZone("")] = true
		}
	}
	return self
}
