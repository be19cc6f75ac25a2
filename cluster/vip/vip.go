// Package vip is a node's part in the elections of the API VIP and the ingress VIP: it configures
// keepalived from what the API says of the cluster's nodes, and tells it by tracked files how well
// this node does.
//
// keepalived runs under onprem-supervise in a container of its own and lives on when this room
// ends. What goes between the two is in package supervised.
//
// Health is a bonus. A node on which nothing works, or whose monitor is dead, announces the base of
// its priority, and the VIP stays where it is when that is true of every node: nobody is better.
//
// The gate: a node takes no part in the election of the API VIP until it has once seen that the API
// behind its balancer works. Until then it has nothing to offer, and an election among such nodes
// would take the VIP from the bootstrap machine when one of them does not hear it. Where there is
// no bootstrap machine, the first node's gate is opened by its own API server alone (Founding). A
// gate that has opened stays open, also over a reboot: when the API is gone everywhere the VIP must
// still have a home, where it is served again first.
package vip

import (
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/addr/member"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

const (
	// MemoryPath is where the room keeps what it must know after a reboot.
	MemoryPath = "/var/lib/onprem-infra/vip.json"
	// SaidFile is where a node's monitor writes what its checks say, below election.RunDir: a list
	// of Said in JSON.
	SaidFile = "checks/said.json"
	// AgreedDir holds the addresses that the node's programs have agreed on, one file a family, and
	// the mark of a remote worker.
	AgreedDir = "/run/nodeip-configuration"
)

// Host is what the room needs to know of the machine, and what it may do there. No call waits for
// anybody.
type Host interface {
	// Links are the machine's links, addresses and routes.
	Links() (addr.Snapshot, error)
	// Agreed are the addresses by which the node's other programs know it, and whether it is a
	// remote worker.
	Agreed() (addresses []netip.Addr, remote bool, err error)
	// Status is what the supervisor last said; the zero Status when it has said nothing.
	Status() (supervised.Status, error)
	// Propose hands a configuration to the supervisor.
	Propose(config keepalived.Config) error
	// Track writes what keepalived is to know of a check; fault says that the check has no weight.
	// A file that says it already is left alone.
	Track(check vrrp.CheckName, fault, passes bool) error
	// Unserved tells the supervisor whose VIPs this node does not serve. What says so already is
	// left alone.
	Unserved(instances []vrrp.InstanceName) error
	// Beat tells the supervisor that the room lives; each beat is another number.
	Beat(beat uint64) error
	// Keep keeps the memory for the next start.
	Keep(m Memory) error
	// Hear says in which elections this node takes part, or will: it is to listen on their links
	// for who disturbs them. It is called at every turn.
	Hear(instances []clash.Instance)
	// Air is what has been heard.
	Air() clash.Air
}

// Cluster is what the API has said so far. No call asks it anything: an API that is away leaves the
// last answer, and heard is false until the first.
type Cluster interface {
	// Self is the name of the Node whose kubelet's credentials this machine has; empty while there
	// are none, and when they name none.
	Self() string
	// Nodes are all nodes, or on a machine that watches no others those of the control plane.
	Nodes() (nodes []Node, heard bool)
	// Candidates are the nodes beside the control plane's that may hold the ingress VIP, where not
	// every node may.
	Candidates() (nodes []notice.Candidate, heard bool)
	// Bootstrap is what the bootstrap machine has published.
	Bootstrap() (b Bootstrap, heard bool)
	// ClaimRank has a Node carry the rank that it claims. It does not wait, and is called at every
	// turn: the zero value withdraws a claim that has not been written yet.
	ClaimRank(c Claim)
	// TellGone has this machine's Node, of this name, say that the bootstrap machine has left for
	// good. It waits for nobody, and is called at every turn until Bootstrap says so.
	TellGone(node string)
}

// Health are the node's checks.
type Health interface {
	// Passes is the state of a check.
	Passes(check vrrp.CheckName) bool
	// Alive says whether every check is still being made.
	Alive() bool
	// Served says whether the API behind this node's balancer has worked: a server has passed a
	// check. It is asked until the gate is open.
	Served() bool
}

// Node is a node of the cluster.
type Node struct {
	addr.Node
	ControlPlane bool `json:"controlPlane"`

	// Rank is what the Node claims, as it stands there, and Created is since when the Node exists.
	// Both are empty where there are no ranks.
	Rank    string    `json:"rank,omitempty"`
	Created time.Time `json:"created,omitzero"`

	// Down is since when its kubelet has not been working, where there are ranks; zero when it
	// works.
	Down time.Time `json:"-"`
}

// Bootstrap is what a bootstrap machine has published in the cluster. The zero value has published
// nothing.
type Bootstrap struct {
	Left      bool // for good: it has said so
	Addresses []netip.Addr
	Beat      string // changes while the machine lives
}

// Memory is what a later start must know.
type Memory struct {
	Open          bool                `json:"open"`          // the gate
	BootstrapGone bool                `json:"bootstrapGone"` // the cluster's bootstrap machine will hold the VIP no more
	Nodes         []Node              `json:"nodes"`         // that the API named last
	Candidates    []notice.Candidate  `json:"candidates"`
	Rank          string              `json:"rank,omitempty"` // that this node had last
	Started       []vrrp.InstanceName `json:"started"`        // instances that have been started on this node once; null in what former releases wrote
}

func (m Memory) equal(o Memory) bool {
	same := func(a, b Node) bool {
		return a.Node.Equal(b.Node) && a.ControlPlane == b.ControlPlane && a.Rank == b.Rank && a.Created.Equal(b.Created)
	}
	return m.Rank == o.Rank && slices.Equal(m.Started, o.Started) && m.Open == o.Open && m.BootstrapGone == o.BootstrapGone && slices.EqualFunc(m.Nodes, o.Nodes, same) &&
		slices.EqualFunc(m.Candidates, o.Candidates, notice.Candidate.Equal)
}

// Room is a node's part in the elections. Its methods are the steps of a loop and for one
// goroutine.
type Room struct {
	plan    plan.Plan
	role    role.Role
	header  string // of every file that is rendered here
	host    Host
	cluster Cluster
	health  Health
	now     func() time.Time

	founding *Founding // nil where the first node has a bootstrap machine before it

	memory  Memory
	named   bool           // the API has named the nodes while this program ran
	past    member.History // of the nodes
	kept    Memory         // what the host was told to keep
	chooser election.Chooser
	boot    bootstrap
	held    map[vrrp.InstanceName]time.Time // since when this node has been the holder
	reigned bool                            // it has been one for long
	self    string                          // this node's name, where there are ranks
	first   bool                            // this node is the first one of its cluster
	place   place
	ranks   []int // that control plane nodes claim

	proposal supervised.Proposal
	beat     uint64
}

// New makes a room for the cluster of p on a node of a role, which is master or worker. header is
// the line of provenance for rendered files, kept is the memory of an earlier run.
func New(p plan.Plan, r role.Role, header string, kept Memory, host Host, cluster Cluster, health Health, now func() time.Time) *Room {
	if kept.Started == nil {
		kept.Started = startedBefore(p, kept)
	}
	return &Room{
		plan: p, role: r, header: header, host: host, cluster: cluster, health: health, now: now,
		memory: kept, kept: kept, held: map[vrrp.InstanceName]time.Time{}, ranks: p.VRRP.ControlPlane.Ranks,
	}
}

// Weights are the checks that count on a node of a role, each with what it adds.
func Weights(p plan.Plan, r role.Role) (checks []vrrp.Weight) {
	for _, e := range election.For(p, r) {
		checks = append(checks, e.Scheme.Checks...)
	}
	return checks
}

// WatchesAll says whether a node of a role must know every node of the cluster. Today's nodes list
// each other as peers for the ingress VIP, all of them, and whoever interoperates with them must do
// as they do. Under any other timing the few candidates are a list of their own.
func WatchesAll(p plan.Plan) bool { return p.Timing.Profile == vrrp.ProfileCompat }
