// Package speaker announces the API VIP from the bootstrap machine to its routers first, and hands
// it over when a control plane node can serve it.
//
// FRR runs in a container under onprem-speak. This room observes the host, decides its
// configuration and what it announces, and hands both over as files. Its path is shorter than that
// of every control plane node, which package bgp proves: routers send to this machine while it
// announces. The nodes announce beside it, and nothing has to be agreed on.
//
// Before the first announcement of a VIP, no router may have a path to it: while no host of the
// cluster announces it, such a path is that of another cluster, or of the one that was here
// before, and routers would send part of the connections there. Sessions stay up while nothing
// is announced, so that routers send such paths.
package speaker

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/release"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

const (
	containerName = "onprem-speaker"
	// program is FRR's parent on the host, where it is installed with our other programs.
	program = "/usr/local/bin/onprem-speak"
)

// Host is the machine and the cluster as the room sees them.
type Host interface {
	Links() (addr.Snapshot, error)
	// Rack is the name of the host's rack; empty if its addresses decide.
	Rack() (string, error)
	// Verdict is the last verdict on the release. It waits for the first.
	Verdict(ctx context.Context) (release.Verdict, error)
	// Config is the configuration that the speaker has; the zero value before the first.
	Config() (spoken.Config, error)
	// Status is the speaker's last one; the zero value before the first.
	Status() (spoken.Status, error)
	// Announced are the VIPs that were once announced from this machine.
	Announced() []netip.Addr
	// Keep saves the VIPs that Announced returns, for later starts.
	Keep(vips []netip.Addr) error
	// Nodes are the control plane nodes that the local API has named; none before it has.
	Nodes() []addr.Candidate
	// KeepNodes keeps control plane nodes for the next start of this program.
	KeepNodes(nodes []addr.Candidate) error
	Configure(c spoken.Config) error
	Wish(w spoken.Wish) error
	// End lets the speaker know that this program ends in order.
	End() error
	// Leave asks the speaker to leave in order, or withdraws that. Both may be repeated.
	Leave(now bool) error
}

// Daemon keeps FRR's container.
type Daemon interface {
	Ensure(ctx context.Context, spec container.Spec) error
	Stop(ctx context.Context, name string) error
}

// Options are what a Room needs.
type Options struct {
	Plan     plan.Plan
	Free     []netip.Addr     // VIPs that count as free, whichever paths routers have
	Nodes    []addr.Candidate // of an earlier run
	Host     Host
	Daemon   Daemon
	Notifier loop.Notifier
	Now      func() time.Time
}

// Room announces the API VIP from the bootstrap machine. Its methods are the steps of a loop and
// for one goroutine.
type Room struct {
	options  Options
	kept     loop.Kept[[]netip.Addr]
	nodes    loop.Kept[[]addr.Candidate]
	begun    []netip.Addr // VIPs that this run has announced
	asked    time.Time    // when the speaker was asked to leave; zero if it is not
	reporter loop.Reporter
}

// New makes a room.
func New(o Options) *Room {
	return &Room{options: o, reporter: loop.Reporter{Notifier: o.Notifier},
		kept: loop.NewKept("keep which VIPs were announced", o.Host.Announced(),
			func(a, b []netip.Addr) bool { return slices.Equal(a, b) }),
		nodes: loop.NewKept("keep the control plane nodes", o.Nodes,
			func(a, b []addr.Candidate) bool {
				return slices.EqualFunc(a, b, addr.Candidate.Equal)
			})}
}

// Container is FRR's container for the cluster of p.
func Container(p plan.Plan) container.Spec {
	const inside = "/usr/bin/onprem-speak"
	capabilities := spoken.Capabilities(p.BGP.Fastest())
	for i, name := range capabilities {
		capabilities[i] = "CAP_" + name
	}
	return container.Spec{
		Name:    containerName,
		Image:   p.Images[spec.FRRImage],
		Command: spoken.Command(inside, p.BGP.Fastest(), "--health", healthAt(p)),
		Mounts: []container.Mount{
			{Source: program, Target: inside, ReadOnly: true},
			{Source: passwordsDir, Target: passwordsDir, ReadOnly: true},
			{Source: spoken.RunDir, Target: spoken.RunDir},
		},
		Tmpfs:        []string{"/run", "/tmp"},
		Capabilities: capabilities,
	}
}
