// Package vip holds the API VIP on the bootstrap machine first, and releases it when a control
// plane node can take it over.
//
// keepalived runs in a container under onprem-supervise. This room observes the host and the
// cluster, decides the configuration, and hands it over as a file. The priority is above everything
// that a control plane node can advertise (package vrrp proves it).
//
// The instance is in unicast mode from the start, with the VRRP group as its one peer until a
// control plane node is known: the same packets on the wire as in multicast mode. A change from
// multicast to unicast mode would make keepalived release the VIP and elect anew; a change of peers
// does not.
//
// That change makes no dual holders. A control plane node of another program renders its instance
// only when the API lists at least two control plane nodes, itself among them, and shows the same
// list for 30 s; then its keepalived listens for a master-down time. The only API at that time runs
// on this machine, so the instance here has that peer within a second. Nodes accept the adverts of
// an unknown router, see the higher priority, and stay BACKUP.
//
// This machine announces its addresses to the cluster (package announce). Nodes of this project
// take them as a peer's, so it receives the adverts of the node that takes over, and holds the VIP
// until then. Other programs' nodes do not advertise to it; see handOver.
package vip

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/bootstrap/vip/conflict"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/addr/peer"
	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/release"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

const (
	containerName = "onprem-keepalived"
	supervisor    = "/usr/local/bin/onprem-supervise"
)

// Host is the machine and the cluster as the room sees them.
type Host interface {
	supervised.Supervisor
	election.Listener
	Links() (addr.Snapshot, error)
	// Nodes are the control plane nodes that the local API has named; none before it has.
	Nodes() []addr.Candidate
	// Keep keeps control plane nodes for the next start of this program.
	Keep(nodes []addr.Candidate) error
	// Verdict is the last verdict on the release. It waits for the first.
	Verdict(ctx context.Context) (release.Verdict, error)
	// Conflicts are other hosts that answer for a VIP. It waits for the first answer.
	Conflicts(ctx context.Context) (map[netip.Addr]conflict.Finding, error)
	// Release asks the supervisor to hand the VIPs over, or withdraws that. Both may be repeated.
	Release(now bool) error
	// Announce publishes the addresses under which this machine advertises; none when it has left.
	// It does not wait.
	Announce(addresses []netip.Addr)
	// Started are the instances that were once started on this machine.
	Started() []vrrp.InstanceName
	// Start records that instances are started.
	Start(instances []vrrp.InstanceName) error
}

// Daemon keeps keepalived's container.
type Daemon interface {
	Ensure(ctx context.Context, spec container.Spec) error
	Stop(ctx context.Context, name string) error
}

// Options are what a Room needs.
type Options struct {
	Plan     plan.Plan
	Header   string           // of every file that is rendered here
	Nodes    []addr.Candidate // of an earlier run
	Host     Host
	Daemon   Daemon
	Notifier loop.Notifier
	Now      func() time.Time
}

// Room holds the API VIP on the bootstrap machine. Its methods are the steps of a loop and for one
// goroutine.
type Room struct {
	options Options

	chooser election.Chooser
	nodes   []addr.Candidate // the last that were known
	past    peer.History     // of the nodes
	kept    loop.Kept[[]addr.Candidate]

	proposal supervised.Proposal
	asked    time.Time // when the supervisor was asked to release the VIPs; zero if it is not
	reporter loop.Reporter
}

// New makes a room.
func New(o Options) *Room {
	return &Room{
		options: o, nodes: o.Nodes, reporter: loop.Reporter{Notifier: o.Notifier},
		kept: loop.NewKept("keep the control plane nodes", o.Nodes,
			func(a, b []addr.Candidate) bool {
				return slices.EqualFunc(a, b, addr.Candidate.Equal)
			}),
	}
}

// Container is keepalived's container for the cluster of p.
func Container(p plan.Plan) container.Spec {
	const program = "/usr/bin/onprem-supervise"
	var vips []string
	for _, vip := range election.Addresses(p, role.Bootstrap) {
		vips = append(vips, "--vip", vip.String())
	}
	options, capabilities := p.BootstrapKeepalived()
	for i, name := range capabilities {
		capabilities[i] = "CAP_" + name
	}
	return container.Spec{
		Name:    containerName,
		Image:   p.Images[spec.KeepalivedImage],
		Command: supervised.Command(program, append(vips, options...)...),
		Mounts: []container.Mount{
			{Source: supervisor, Target: program, ReadOnly: true},
			{Source: keepalived.HostDir, Target: keepalived.Dir},
			{Source: supervised.RunDir, Target: supervised.RunDir},
		},
		Tmpfs:        []string{"/run", "/tmp"},
		Capabilities: capabilities,
	}
}
