// Package vip runs a node's part in the VRRP groups of the API VIP, the ingress VIP and the DNS
// VIP: it configures keepalived from the nodes that the API names, and reports the node's checks to
// it by tracked files.
//
// keepalived runs under onprem-supervise in its own container, and continues when this room ends.
//
// Health adds priority. A node on which every check fails, or whose monitor is dead, advertises its
// base priority. If that is true of every node, the VIP stays where it is.
//
// The eligibility gate: a node does not run for the API VIP until it has once seen the API work
// behind its balancer. Earlier it could only take the VIP from the bootstrap machine, without
// serving it. A cluster without a bootstrap machine begins with its first node, whose own API
// server opens the gate (package founding). An open gate stays open, also over a reboot: if the API
// is gone everywhere, the VIP must still have a holder, where the API is served again first.
package vip

import (
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/migrate"
	"github.com/onprem-infra/onprem-infra/cluster/vip/absent"
	"github.com/onprem-infra/onprem-infra/cluster/vip/announce"
	"github.com/onprem-infra/onprem-infra/cluster/vip/bootpeer"
	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/cluster/vip/nodestate"
	"github.com/onprem-infra/onprem-infra/cluster/vip/occupant"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

const (
	// Interval is the longest time between two rounds. Each writes a heartbeat, which the
	// supervisor expects once a second.
	Interval = time.Second
	// MigrationPath holds what the migration must know after a reboot.
	MigrationPath = "/var/lib/onprem-infra/migration.json"
	// AgreedDir has the node's agreed addresses, and the mark of a remote worker.
	AgreedDir = "/run/nodeip-configuration"
)

// Host is the machine as the room sees it. No call waits for another process.
type Host interface {
	supervised.Supervisor
	election.Listener
	Links() (addr.Snapshot, error)
	// Cards are the host's Ethernet links. They are read only where nodes share an address on the
	// provisioning network.
	Cards() ([]addr.Ethernet, error)
	// Agreed are the addresses by which other programs know the node.
	Agreed() (addresses []netip.Addr, remote bool, err error)
	// Track writes a check's state for keepalived; fault: the check has no weight.
	Track(check vrrp.CheckName, fault, passes bool) error
	// SetUnserved reports to the supervisor the instances whose VIPs this node does not serve.
	SetUnserved(instances []vrrp.InstanceName) error
	// Beat writes a heartbeat for the supervisor.
	Beat(beat uint64) error
	// Keep keeps the memory for the next start, and KeepMigration that of the migration.
	Keep(m nodestate.Memory) error
	KeepMigration(m migrate.Memory) error
}

// Cluster is the API's last answer. No call waits; known is false until the first answer.
type Cluster interface {
	// Self is the name of the Node that this machine's kubelet credentials name; empty for none.
	Self() string
	// Nodes are all nodes, or those of the control plane on a machine that watches no others.
	Nodes() (nodes []member.Node, known bool)
	// Candidates are the workers that may hold the ingress VIP, if not every node may.
	Candidates() (nodes []notice.Candidate, known bool)
	// Bootstrap is what the bootstrap machine has published.
	Bootstrap() (p bootpeer.Published, known bool)
	// ClaimRank writes a claim on a Node. The zero value withdraws a claim that is not written yet.
	ClaimRank(c member.Claim)
	// ReportBootstrapGone writes on a Node that the bootstrap machine is gone for good.
	ReportBootstrapGone(node string)
	// Announce writes a node's intent on its Node.
	Announce(node string, intent notice.Intent)
}

// Health are the node's checks.
type Health interface {
	Passes(check vrrp.CheckName) bool
	// Alive reports whether every check is still being made.
	Alive() bool
	// Served reports whether the API behind this node's balancer has worked.
	Served() bool
}

// Founding reports whether this node is the first one of its cluster.
type Founding interface {
	First() bool
	// End is called when the API has named a node.
	End()
}

// Occupant reports whether a machine outside of the cluster has the provisioning address.
type Occupant interface{ Found() occupant.Finding }

// Announcer announces VIPs to the host's routers.
type Announcer interface {
	// Announce is called in each round in which the checks are alive; nil: nothing could be seen.
	Announce(*announce.Seen)
}

// Options are what a Room needs.
type Options struct {
	Role      role.Role        // master or worker
	Header    string           // of every file that is rendered here
	Memory    nodestate.Memory // of an earlier run
	Migration *migrate.Room    // and the plans
	Host      Host
	Cluster   Cluster
	Health    Health
	Founding  Founding        // nil if this node cannot be the first one
	Occupant  Occupant        // nil if nodes share no provisioning address
	Announcer Announcer       // nil if no routers know the VIPs
	Changed   func(plan.Plan) // called once the migration's plan is in force
	Late      func() string   // of migrate.Observation
	After     func(time.Duration)
	Now       func() time.Time
}

// Room runs the node's part in the VRRP groups. Its methods are the steps of a loop and for one
// goroutine, but for Absent.
type Room struct {
	options Options
	plan    plan.Plan // in force

	memory  nodestate.Memory
	kept    loop.Kept[nodestate.Memory]
	moved   loop.Kept[migrate.Memory]
	changed bool // to the migration's plan
	notify  bool // Options.Changed, of that

	named   bool // the API has named the nodes while this program ran
	past    member.History
	chooser election.Chooser
	boot    bootpeer.State
	first   bool         // this node is the first one of its cluster
	place   member.Place // where there are ranks

	proposal supervised.Proposal
	reported reported
}

// reported is what a Room reports to other programs.
type reported struct {
	beat   uint64
	absent atomic.Pointer[[]absent.Instance] // for any goroutine
}

// New makes a room whose plan is the one in force.
func New(o Options) *Room {
	o.Memory.Resume(election.Names(o.Migration.Plan(), vrrp.API, vrrp.Ingress, vrrp.DNS))
	return &Room{
		options: o, plan: o.Migration.InForce(o.Now()), changed: o.Migration.Changed(o.Now()),
		memory: o.Memory, place: member.Place{Rank: member.NoRank, Free: member.NoRank},
		kept: loop.NewKept("keep what is known of the cluster", o.Memory, nodestate.Memory.Equal),
		moved: loop.NewKept("keep how this node advertises", o.Migration.Kept(),
			migrate.Memory.Equal),
	}
}

// WatchesAll reports whether a node must know every node. With timing compat all of them are peers
// for the ingress VIP, as nodes of other programs do it; otherwise the candidates have a list.
func WatchesAll(p plan.Plan) bool { return p.Timing.Profile == vrrp.ProfileCompat }
