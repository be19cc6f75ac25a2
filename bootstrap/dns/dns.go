// Package dns runs CoreDNS on the bootstrap machine: it answers api, api-int and *.apps before any
// name server outside knows them, and forwards the rest to the name servers that the host has
// learnt.
package dns

import (
	"context"
	"sync/atomic"
	"syscall"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/nameserver"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
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

// Options are what a Room needs. Only Plan, Header and Host are needed to decide.
type Options struct {
	Plan     plan.Plan
	Header   string // the line of provenance for rendered files
	Host     Host
	Daemon   Daemon
	Notifier Notifier
}

// Room is the bootstrap machine's DNS. Its methods are the steps of a loop and for one goroutine.
type Room struct {
	Options
	upstreams atomic.Int64 // to which CoreDNS forwards

	answered bool // by the CoreDNS that runs
	read     bool // it has the Corefile that is in place
	ready    bool
	status   string // as reported last
}

// New makes the room. Nothing happens before its first step.
func New(o Options) *Room { return &Room{Options: o} }

// Metrics writes what the room's metrics are now. It may be called by any goroutine.
func (r *Room) Metrics(page *metrics.Page) {
	page.Add(metrics.DNSUpstreams, float64(r.upstreams.Load()))
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
