package facts

import (
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Daemons are the programs of a live host, and the API servers that they depend on.
type Daemons struct {
	Keepalived *Keepalived
	Running    []Running
	Monitors   []Monitor
	Balancer   *Balancer
	Redirected *bool // connections to the VIP are redirected to the balancer
	Servers    []Server
	Checks     []Check
	Rights     []Right // that this node lacks
}

// Keepalived is keepalived as its supervisor reports it.
type Keepalived struct {
	Wanted    bool   // this host's role runs keepalived
	Fault     string // why the supervisor does not answer; empty if it does
	Started   bool   // the supervisor has written its status at least once
	Running   bool
	Applied   string // digest of the running configuration
	Refusal   string
	Heartbeat bool // the supervisor receives its monitor's heartbeat

	Troubles []string // what the supervisor cannot do, each as TASK: ERROR
}

// Running is a daemon's running configuration beside its file. A digest is empty if it is not
// known, and is made in the daemon's own way.
type Running struct {
	Daemon string // keepalived, HAProxy or CoreDNS
	Path   string
	Loaded string // digest of the running configuration, as the daemon or its supervisor reports it
	Disk   string // digest of the file
	Header string // the digest that the file states: another one if the file was edited
}

// Monitor is a program that keeps a daemon configured.
type Monitor struct {
	Name  string
	Fault string // why it does not answer; empty if it does
}

// Balancer is this node's HAProxy.
type Balancer struct {
	Fault string   // why it does not answer; empty if it does
	Up    []string // its healthy backends
	// Ironic are the pods of the cluster's Ironic that the API reports as ready.
	Ironic []IronicPod
}

// IronicPod is a port of such a pod, as HAProxy's check finds it.
type IronicPod struct {
	Of      string // HAProxy's backend
	Address netip.AddrPort
	Up      bool
	Check   string // the result in HAProxy's term, such as L4OK
}

// Server is one of the control plane's API servers.
type Server struct {
	Address netip.AddrPort
	Ready   bool
	Why     string
}

// Check is a health check: Tracked is its result in keepalived, Passes that of a probe made now.
type Check struct {
	Name            vrrp.CheckName
	Tracked, Passes bool
	Why             string
}

// Right is a permission that the cluster's API does not grant to this node.
type Right struct {
	What    string // in words
	Without string // what the node does without it
	Do      string
}

// Names are what name servers answer.
type Names struct {
	Resolver *Resolver
	Fault    string   // why this host's own name server does not answer
	Own      []Answer // of this host's own name server
	Outside  []Answer // of the name servers behind it
}

// Resolver is the file that names the servers behind this host's own name server.
type Resolver struct {
	Path  string
	Self  []netip.Addr // of the servers in it, those that are this host, or a VIP
	Rest  []netip.Addr // the others
	Dead  []string     // of the rest, those that do not answer, and why
	Alive int
	// Unasked reports that the cluster has no name that they could be asked for.
	Unasked bool
}

// Answer is what a name server answers for one of the cluster's names.
type Answer struct {
	Server string
	Name   string
	Want   []netip.Addr
	Got    []netip.Addr
}

// Current reports whether the supervisor's status is current: it has started, and it answers.
func (k *Keepalived) Current() bool {
	return k != nil && k.Wanted && k.Started && k.Fault == ""
}
