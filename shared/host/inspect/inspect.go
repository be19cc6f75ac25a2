// Package inspect gathers typed facts of a host: what its programs have written, what its network
// answers, and what its own servers answer.
package inspect

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/capture"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/migration"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/host/reach"
	"github.com/onprem-infra/onprem-infra/shared/operator/workers"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// Timeout bounds each probe.
const Timeout = time.Second

// Inspector inspects a host of a cluster.
type Inspector struct {
	Plan plan.Plan // in force
	migration.Changes
	Files Files
	Probes
}

// Probes are the sources of facts other than files. A test replaces them.
type Probes struct {
	Now       func() time.Time
	Hostname  func() (string, error)
	Links     func() (addr.Snapshot, error)
	Neighbour func(ctx context.Context, link string, vip netip.Addr) (addr.Neighbour, error)
	// Cards are the Ethernet links, and WhoHas the MACs of other hosts that answer for an address
	// on one of them. It takes a second, and needs the privilege to send raw packets.
	Cards    func() ([]addr.Ethernet, error)
	WhoHas   func(link string, vip netip.Addr) ([]string, error)
	Adverts  Adverts
	Backends func(ctx context.Context) ([]haproxy.Stat, error)
	// Lookup asks this host's name server.
	Lookup func(ctx context.Context, name string) ([]netip.Addr, error)
	// Workers is what the cluster's API has at a time of the hosts that it provisions; nil if that
	// is not asked for: a node's own credentials may not read it.
	Workers func(ctx context.Context, now time.Time) (workers.World, error)
}

// New inspects this host.
func New(p plan.Plan) *Inspector {
	stats := fmt.Sprintf("http://127.0.0.1:%d/haproxy_stats;csv", p.Ports[port.LBStats])
	balancer := probe.NewHTTP(stats, (&net.Dialer{}).DialContext)
	server := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), p.Ports[port.DNS])
	return &Inspector{Plan: p, Probes: Probes{
		Now: time.Now, Hostname: os.Hostname, Links: link.Snapshot, Neighbour: neighbour,
		Cards: link.Ethernets, WhoHas: reach.WhoHas, Adverts: capture.Adverts,
		Backends: func(ctx context.Context) ([]haproxy.Stat, error) {
			text, err := balancer.Good(ctx)
			if err != nil {
				return nil, err
			}
			return haproxy.ParseStats(text)
		},
		Lookup: func(ctx context.Context, name string) ([]netip.Addr, error) {
			return probe.Lookup(ctx, server, name)
		},
	}}
}

// neighbour asks for an address on a link and waits until a host has answered, or the kernel
// reports that none does.
func neighbour(ctx context.Context, on string, vip netip.Addr) (addr.Neighbour, error) {
	if err := link.Ask(on, vip); err != nil {
		return addr.Neighbour{}, err
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		n, err := link.Neighbour(on, vip)
		if err != nil || n != (addr.Neighbour{}) {
			return n, err
		}
		select {
		case <-ctx.Done():
			return addr.Neighbour{Absent: true}, nil
		case <-tick.C:
		}
	}
}

// Supervisor is keepalived's supervisor's status. A host without one has no keepalived of ours,
// which is an error.
func (i *Inspector) Supervisor() (supervised.Status, error) {
	path := supervised.RunDir + "/" + supervised.StatusFile
	if there, err := i.Files.Exists(path); err == nil && !there {
		return supervised.Status{}, fmt.Errorf(
			"there is no %s: it has not been started on this host", path)
	}
	return i.Files.Supervisor()
}
