// Package dns runs CoreDNS on the bootstrap machine: it answers api, api-int and *.apps before any name server outside knows them,
// and forwards the rest to the name servers that the host has learnt.
package dns

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"syscall"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/corefile"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/resolvconf"
)

// Config is where CoreDNS reads its configuration, on the host and in the container.
const Config = "/etc/coredns/Corefile"

const containerName = "onprem-coredns"

// Host is what the room needs to know of the machine, and what it may do there.
type Host interface {
	Links() (addr.Snapshot, error)
	// Resolvers are the files that may name the host's own name servers, best first; those that do not exist are left out.
	Resolvers() ([]Resolver, error)
	// Write puts the Corefile in place atomically and says whether it is another one.
	Write(config []byte) (changed bool, err error)
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

// Resolver is one resolv.conf.
type Resolver struct {
	Path string
	Text []byte
}

// Snapshot is all that the decision depends on.
type Snapshot struct {
	Links     addr.Snapshot
	Resolvers []Resolver
}

// Room is the bootstrap machine's DNS. Its methods are the steps of a loop and for one goroutine.
type Room struct {
	plan     plan.Plan
	header   string
	host     Host
	daemon   Daemon
	notifier Notifier

	ready bool
	told  string
}

// New makes a room for the cluster of p; header is the line of provenance for rendered files.
func New(p plan.Plan, header string, host Host, daemon Daemon, notifier Notifier) *Room {
	return &Room{plan: p, header: header, host: host, daemon: daemon, notifier: notifier}
}

// Container is CoreDNS's container for the cluster of p.
func Container(p plan.Plan) container.Spec {
	return container.Spec{
		Name:         containerName,
		Image:        p.Images["corednsImage"],
		Command:      []string{"coredns", "-conf", Config},
		Mounts:       []container.Mount{{Source: "/etc/coredns", Target: "/etc/coredns", ReadOnly: true}},
		Tmpfs:        []string{"/tmp"},
		Capabilities: []string{"CAP_NET_BIND_SERVICE"}, // port 53, nothing else
	}
}

// Observe reads the host's addresses and its name servers.
func (r *Room) Observe(context.Context) (Snapshot, error) {
	links, err := r.host.Links()
	if err != nil {
		return Snapshot{}, fmt.Errorf("read links: %w", err)
	}
	resolvers, err := r.host.Resolvers()
	if err != nil {
		return Snapshot{}, fmt.Errorf("read the host's name servers: %w", err)
	}
	return Snapshot{Links: links, Resolvers: resolvers}, nil
}

// Decide says which Corefile should be there. Without any usable name server CoreDNS still answers the cluster's own names.
func (r *Room) Decide(s Snapshot) (corefile.Config, loop.Reasons) {
	upstreams, why := r.upstreams(s)
	return corefile.Config{
		Header:     r.header,
		Zone:       r.plan.Cluster.Zone,
		Records:    r.plan.Records,
		Upstreams:  upstreams,
		HealthPort: r.plan.Ports[port.CoreDNSHealth],
	}, loop.Reasons{why}
}

// upstreams are the name servers of the first file that names a usable one. Where systemd-resolved is in charge, the better files name
// only its stub, which would forward to us what we forward to it.
func (r *Room) upstreams(s Snapshot) ([]netip.Addr, string) {
	self := map[netip.Addr]bool{}
	for _, link := range s.Links.Links {
		for _, a := range link.Addresses {
			self[a.Prefix.Addr()] = true
		}
	}
	unusable := func(a netip.Addr) bool {
		return self[a] || slices.Contains(r.plan.VIPs.API, a) || slices.Contains(r.plan.VIPs.Ingress, a)
	}
	for _, file := range s.Resolvers {
		if upstreams := resolvconf.Upstreams(resolvconf.Parse(file.Text), unusable); len(upstreams) > 0 {
			return upstreams, fmt.Sprintf("name servers %v from %s", upstreams, file.Path)
		}
	}
	return nil, "no usable name server in any resolv.conf"
}

// Apply brings the machine to what is desired. It is called at every turn and does nothing when all is as it should be.
func (r *Room) Apply(ctx context.Context, c corefile.Config) error {
	changed, err := r.host.Write(corefile.Render(c))
	if err != nil {
		return fmt.Errorf("write %s: %w", Config, err)
	}
	if changed && r.daemon.Running() {
		// CoreDNS would notice by itself, but only half a minute later. A Corefile that it refuses leaves the former one in force.
		if err := r.daemon.Signal(syscall.SIGUSR1); err != nil {
			return fmt.Errorf("have CoreDNS read its Corefile: %w", err)
		}
	}
	if err := r.daemon.Ensure(ctx, Container(r.plan)); err != nil {
		return err
	}
	return r.tell(ctx, fmt.Sprintf("answers for %s, %d name servers behind it", c.Zone, len(c.Upstreams)))
}

// Leave stops CoreDNS.
func (r *Room) Leave(ctx context.Context) error { return r.daemon.Stop(ctx, containerName) }

// tell passes the room's state on to the service manager when it changes, and READY once CoreDNS has answered.
func (r *Room) tell(ctx context.Context, status string) error {
	if status != r.told {
		if err := r.notifier.Status(status); err != nil {
			return err
		}
		r.told = status
	}
	if r.ready {
		return nil
	}
	if err := r.host.Answers(ctx, "api-int."+string(r.plan.Cluster.Zone)); err != nil {
		return fmt.Errorf("ask CoreDNS for api-int: %w", err)
	}
	r.ready = true
	return r.notifier.Ready()
}
