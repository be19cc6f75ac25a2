// Package dns configures the node's CoreDNS: it answers api, api-int, *.apps and the names of
// nodes, and forwards other names to the host's name servers. A file holds the nodes for the time
// while the API is away.
package dns

import (
	"context"
	"net/netip"
	"slices"
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
	// MemoryPath holds the nodes that the API last reported, for the time while it is away.
	MemoryPath = "/var/lib/onprem-infra/dns-nodes.json"
)

// Command is the command of CoreDNS's container. The monitor finds CoreDNS by it among the
// processes of the pod.
func Command() []string { return []string{"coredns", "-conf", Config} }

// apart is the least time between two reloads. A reload one second after another, when CoreDNS's
// health check probes itself for the first time, may take 5 s: see corefile.Render.
const apart = 1500 * time.Millisecond

// Host is the machine as the room reads and changes it.
type Host interface {
	Links() (addr.Snapshot, error)
	// Resolvers are the existing files that may list the host's name servers, best first.
	Resolvers() ([]nameserver.Resolver, error)
	// Write replaces a file atomically and reports whether it changed.
	Write(path string, text []byte) (changed bool, err error)
	// Read returns a file's text, nil if it does not exist.
	Read(path string) ([]byte, error)
	// Now is a monotonic clock. Later requests a round after a delay.
	Now() time.Time
	Later(time.Duration)
}

// Node is a node as the room knows it.
type Node struct {
	addr.Candidate
	ControlPlane bool
}

// Nodes are the nodes that the API reports: all of them on a control plane node, elsewhere those of
// the control plane. synced is false until it has answered.
type Nodes interface {
	Nodes() (nodes []Node, synced bool)
}

// Daemon is the CoreDNS of this pod.
type Daemon interface {
	// Running reports whether CoreDNS runs, and whether it is another process than at the last
	// call.
	Running() (running, another bool)
	// Serves reports whether it answers its health check, and so handles signals.
	Serves(ctx context.Context) bool
	Signal(sig syscall.Signal) error
}

// Options are what a Room needs.
type Options struct {
	Plan   plan.Plan
	Role   role.Role // of this node
	Header string    // the line of provenance for rendered files
	Host   Host
	Nodes  Nodes  // nil without access to the API
	Daemon Daemon // nil before CoreDNS starts
}

// Room is a node's DNS. Its methods are the steps of a loop and for one goroutine.
type Room struct {
	Options
	meter meter

	known  []Node // reported last by the API, in this run or an earlier one
	loaded bool   // the memory was read

	read     bool      // CoreDNS has read the present Corefile
	reloaded time.Time // when CoreDNS got its last signal
}

// New makes the room. Nothing happens before its first step.
func New(o Options) *Room { return &Room{Options: o} }

// Snapshot is the input of the decision.
type Snapshot struct {
	Links     addr.Snapshot
	Resolvers []nameserver.Resolver
	Nodes     []Node
	Source    string // of the nodes' names: metrics.FromAPI, FromMemory or FromNone
}

// Desired is the wanted state of the machine.
type Desired struct {
	Corefile corefile.Config
	Hosts    []corefile.Host // none: no node is known yet, and the file of an earlier run stays
	Memory   []Node          // none: nothing new to remember
}

// isSelf reports whether an address is one of this cluster's CoreDNS that may ask this one: this
// machine's, a VIP, or a control plane node's. Those of other nodes do not count: a kubelet writes
// the addresses of its own Node, and could list the site's name servers among them.
func (s Snapshot) isSelf(p plan.Plan, a netip.Addr) bool {
	return s.Links.LinkOf(a) != "" || slices.Contains(p.VIPs.All(), a) ||
		slices.ContainsFunc(s.Nodes, func(n Node) bool {
			return n.ControlPlane && n.has(a)
		})
}

// claimedLast puts the addresses that stand on a Node, which it returns too, behind the others: a
// worker that is asked for the name of a node asks back.
func (s Snapshot) claimedLast(upstreams []netip.Addr) (all, last []netip.Addr) {
	for _, a := range upstreams {
		if slices.ContainsFunc(s.Nodes, func(n Node) bool { return n.has(a) }) {
			last = append(last, a)
		} else {
			all = append(all, a)
		}
	}
	return append(all, last...), last
}

// has reports whether an address stands on the Node.
func (n Node) has(a netip.Addr) bool {
	return slices.ContainsFunc(n.InternalIPs, func(ip netip.Addr) bool {
		return ip.Unmap().WithZone("") == a
	})
}
