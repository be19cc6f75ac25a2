// Package vip holds the API VIP on the bootstrap machine first and gives it up when the control
// plane can take it.
//
// keepalived runs in a container under onprem-supervise; this room observes the host and the
// cluster, decides the configuration, and hands it over by file. The priority is above everything
// that a control plane node can announce (package vrrp proves it).
//
// Until a control plane node is known the instance is multicast, and then unicast with the nodes as
// peers. keepalived gives an instance up and elects anew when it changes from its multicast mode to
// its unicast mode; it keeps the state and the address when only the peers change. So the instance
// is in unicast mode from the start, with the VRRP group as its one peer: the same packets on the
// wire.
//
// Two holders cannot arise at that change. A control plane node of today renders its instance only
// when the API lists at least two control plane nodes, itself among them, and shows the same list
// at three looks 10 s apart; then its keepalived listens for a master-down time, 3.7 s or more. The
// only API there is at that time runs on this machine, and its watch reports a Node as it is
// stored: the instance here has that peer within a second, about half a minute before the node
// listens. Nodes accept advertisements from a sender that they do not list, see the higher
// priority, and stay BACKUP. Before the first Node nobody else is in the election.
//
// This machine tells the cluster its addresses (Notice). Nodes of ours take them in as a peer's,
// and so it hears the one that takes the VIP over: it keeps the VIP until then, and nobody is
// without it. Nodes of today do not tell it anything; see yield.
package vip

import (
	"context"
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/addr/member"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
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

// Host is what the room needs to know of the machine and the cluster, and what it may do there.
type Host interface {
	// Links are the machine's links, addresses and routes.
	Links() (addr.Snapshot, error)
	// Nodes are the control plane nodes that the local API has told of; none before it has.
	Nodes() []addr.Node
	// Keep keeps control plane nodes for the next start of this program.
	Keep(nodes []addr.Node) error
	// Verdict is the last word of the stop logic, and waits for its first.
	Verdict(ctx context.Context) (release.Verdict, error)
	// Claims is how it stands with the API VIPs that are not settled, and waits for the first word.
	Claims(ctx context.Context) (map[netip.Addr]Claim, error)
	// Status is what the supervisor last said; the zero Status when it has said nothing.
	Status() (supervised.Status, error)
	// Propose hands a configuration to the supervisor.
	Propose(config keepalived.Config) error
	// Leave asks the supervisor to hand the VIPs over, or takes that back. Both may be said again
	// and again.
	Leave(now bool) error
	// Publish tells the cluster the addresses under which this machine takes part in the election;
	// none when it has left. It does not wait.
	Publish(addresses []netip.Addr)
	// Hear says in which elections this machine takes part, or will: it is to listen on their links
	// for who disturbs them. It is called at every turn.
	Hear(instances []clash.Instance)
	// Air is what has been heard.
	Air() clash.Air
	// Started are the instances that were started on this machine once, by this run or an earlier
	// one.
	Started() []vrrp.InstanceName
	// Start keeps that instances are started. What is kept already is left alone.
	Start(instances []vrrp.InstanceName) error
}

// Daemon keeps keepalived's container.
type Daemon interface {
	Ensure(ctx context.Context, spec container.Spec) error
	Stop(ctx context.Context, name string) error
}

// Notifier tells the service manager how far the room is.
type Notifier interface {
	Ready() error
	Status(text string) error
}

// Room is the bootstrap machine's part in the API VIP. Its methods are the steps of a loop and for
// one goroutine.
type Room struct {
	plan     plan.Plan
	header   string // of every file that is rendered here
	host     Host
	daemon   Daemon
	notifier Notifier
	now      func() time.Time

	chooser election.Chooser
	nodes   []addr.Node    // the last that were known
	past    member.History // of the nodes
	kept    []addr.Node    // the last that the host was told to keep

	proposal supervised.Proposal
	yields   time.Time // since when the supervisor is asked to leave; zero when it is not
	ready    bool
	told     string
}

// New makes a room for the cluster of p. header is the line of provenance for rendered files, kept
// are the nodes of an earlier run.
func New(p plan.Plan, header string, kept []addr.Node, host Host, daemon Daemon, notifier Notifier, now func() time.Time) *Room {
	return &Room{
		plan: p, header: header, host: host, daemon: daemon, notifier: notifier, now: now,
		nodes: kept, kept: kept,
	}
}

// Container is keepalived's container for the cluster of p.
func Container(p plan.Plan) container.Spec {
	config := keepalived.Dir + "/" + keepalived.File
	command := []string{"/usr/bin/onprem-supervise", "--config", config, "--run-dir", election.RunDir}
	for _, vip := range election.Addresses(p, role.Bootstrap) {
		command = append(command, "--vip", vip.String())
	}
	options, capabilities := p.BootstrapKeepalived()
	for i, name := range capabilities {
		capabilities[i] = "CAP_" + name
	}
	return container.Spec{
		Name:    containerName,
		Image:   p.Images[spec.KeepalivedImage],
		Command: append(append(command, options...), "--", "keepalived"),
		Mounts: []container.Mount{
			{Source: supervisor, Target: "/usr/bin/onprem-supervise", ReadOnly: true},
			{Source: keepalived.HostDir, Target: keepalived.Dir},
			{Source: election.RunDir, Target: election.RunDir},
		},
		Tmpfs:        []string{"/run", "/tmp"},
		Capabilities: capabilities,
	}
}
