// Package dns runs CoreDNS on the bootstrap machine: it answers api, api-int and *.apps before any
// name server outside knows them, and forwards the rest to the name servers that the host has
// learnt.
package dns

import (
	"context"
	"syscall"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/nameserver"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// Config is where CoreDNS reads its configuration, on the host and in the container.
const Config = "/etc/coredns/Corefile"

const containerName = "onprem-coredns"

// Host is what the room needs to know of the machine, and what it may do there.
type Host interface {
	Links() (addr.Snapshot, error)
	// Resolvers are the files that may name the host's own name servers, best first; those that do
	// not exist are left out.
	Resolvers() ([]nameserver.Resolver, error)
	// Write puts the Corefile in place atomically and says whether it is another one.
	Write(config []byte) (changed bool, err error)
	// Written says whether there is a Corefile, of now or of an earlier run.
	Written() bool
	// Answers says whether the CoreDNS of this machine answers for name.
	Answers(ctx context.Context, name string) error
}

// Daemon keeps CoreDNS's container.
type Daemon interface {
	Ensure(ctx context.Context, spec container.Spec) error
	Signal(sig syscall.Signal) error
	Stop(ctx context.Context, name string) error
	Running() bool
}

// Notifier tells the service manager how far the room is.
type Notifier interface {
	Ready() error
	Status(text string) error
}

// Room is the bootstrap machine's DNS. Its methods are the steps of a loop and for one goroutine.
type Room struct {
	plan     plan.Plan
	header   string
	host     Host
	daemon   Daemon
	notifier Notifier

	answered bool // by the CoreDNS that runs
	read     bool // it has the Corefile that is in place
	ready    bool
	told     string
}

// New makes a room for the cluster of p; header is the line of provenance for rendered files.
func New(p plan.Plan, header string, host Host, daemon Daemon, notifier Notifier) *Room {
	return &Room{plan: p, header: header, host: host, daemon: daemon, notifier: notifier}
}

// Probe is a name that this machine's CoreDNS answers for by itself: who asks for it learns whether
// CoreDNS works and of nothing else.
func Probe(p plan.Plan) string { return "api-int." + string(p.Cluster.Zone) }

// Container is CoreDNS's container for the cluster of p.
func Container(p plan.Plan) container.Spec {
	return container.Spec{
		Name:         containerName,
		Image:        p.Images[spec.CoreDNSImage],
		Command:      []string{"coredns", "-conf", Config},
		Mounts:       []container.Mount{{Source: "/etc/coredns", Target: "/etc/coredns", ReadOnly: true}},
		Tmpfs:        []string{"/tmp"},
		Capabilities: []string{"CAP_NET_BIND_SERVICE"}, // port 53, nothing else
	}
}
