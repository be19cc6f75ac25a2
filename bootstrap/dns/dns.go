// Package dns runs CoreDNS on the bootstrap machine: it answers api, api-int and *.apps before any
// other name server does, and forwards other names to the host's name servers.
package dns

import (
	"context"
	"sync/atomic"
	"syscall"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/nameserver"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// Config is where CoreDNS reads its configuration, on the host and in the container.
const Config = "/etc/coredns/Corefile"

const containerName = "onprem-coredns"

// Host is the machine as the room reads and changes it.
type Host interface {
	Links() (addr.Snapshot, error)
	// Resolvers are the existing files that may list the host's name servers, best first.
	Resolvers() ([]nameserver.Resolver, error)
	// Write replaces the Corefile atomically and reports whether it changed.
	Write(config []byte) (changed bool, err error)
	// Written reports whether a Corefile exists, of this run or an earlier one.
	Written() bool
	// Answers returns an error if the CoreDNS of this machine does not answer for name.
	Answers(ctx context.Context, name string) error
}

// Daemon keeps CoreDNS's container.
type Daemon interface {
	Ensure(ctx context.Context, spec container.Spec) error
	Signal(sig syscall.Signal) error
	Stop(ctx context.Context, name string) error
	Running() bool
}

// Options are what a Room needs. Only Plan, Header and Host are needed to decide.
type Options struct {
	Plan     plan.Plan
	Header   string // the line of provenance for rendered files
	Host     Host
	Daemon   Daemon
	Notifier loop.Notifier
}

// Room is the bootstrap machine's DNS. Its methods are the steps of a loop and for one goroutine.
type Room struct {
	Options
	upstreams atomic.Int64 // to which CoreDNS forwards

	answered bool // by the running CoreDNS
	read     bool // CoreDNS has read the present Corefile
	reporter loop.Reporter
}

// New makes the room. Nothing happens before its first step.
func New(o Options) *Room {
	return &Room{Options: o, reporter: loop.Reporter{Notifier: o.Notifier}}
}

// Metrics writes what the room's metrics are now. It may be called by any goroutine.
func (r *Room) Metrics(page *metrics.Page) {
	page.Add(metrics.DNSUpstreams, float64(r.upstreams.Load()))
}

// Probe is a name that this machine's CoreDNS answers itself, so that a query for it depends on no
// other name server.
func Probe(p plan.Plan) string { return "api-int." + string(p.Cluster.Zone) }

// Container is CoreDNS's container for the cluster of p.
func Container(p plan.Plan) container.Spec {
	return container.Spec{
		Name:    containerName,
		Image:   p.Images[spec.CoreDNSImage],
		Command: []string{"coredns", "-conf", Config},
		Mounts: []container.Mount{{Source: "/etc/coredns", Target: "/etc/coredns",
			ReadOnly: true}},
		Tmpfs:        []string{"/tmp"},
		Capabilities: []string{"CAP_NET_BIND_SERVICE"}, // port 53, nothing else
	}
}
