// Package lb keeps a control plane node's HAProxy configured without reloads when nodes change, and
// redirects connections to the API VIP to HAProxy only while it serves.
package lb

import (
	"context"
	"io/fs"
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/cluster/lb/ironic"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/redirect"
)

// Where the room keeps its files; HAProxy's own are named by cluster/haproxy.
const (
	// Memory holds the members by slot across reboots: if all nodes lost power, the balancers must
	// start before the API does.
	Memory = "/var/lib/onprem-infra/lb-members.json"
	// OwnAddress holds the node's address, if it was chosen.
	OwnAddress = "/run/nodeip-configuration/primary-ip"
)

// Host is the machine as this room needs it.
type Host interface {
	Read(path string) ([]byte, error) // nil for a file that is not there
	Write(path string, text []byte, mode fs.FileMode) (changed bool, err error)
	Remove(path string) error // a file that is not there is no error
	IPv6() bool               // IPv6 sockets can be opened
	Now() time.Time
}

// Nodes are the control plane's nodes, as the API last listed them; synced is false before that.
type Nodes interface {
	Nodes() (nodes []addr.Candidate, synced bool)
}

// Trust is what verifies API servers' certificates: the CA as PEM, empty for none, and their name.
type Trust interface {
	Trust() (ca []byte, name string, err error)
}

// Daemon is HAProxy.
type Daemon interface {
	// Running reports whether HAProxy answers, and the structure that it runs with. An error means
	// that this is not known.
	Running(ctx context.Context) (structure string, running bool, err error)
	Stats(ctx context.Context) ([]haproxy.Stat, error)
	Command(ctx context.Context, commands ...string) error
	// Reload returns when HAProxy runs with that structure. refused marks an error that another
	// trial would only repeat.
	Reload(ctx context.Context, structure string) (refused bool, err error)
	// Healthy reports whether HAProxy has a server that is up; false if HAProxy does not run. An
	// error means that the probe timed out.
	Healthy(ctx context.Context) (bool, error)
	ironic.Daemon
}

// Filter is the packet filter.
type Filter interface {
	Ensure(redirect.Rules) (changed bool, err error)
	RemoveLeftovers() (removed []string, err error)
	ironic.Filter
}

// Snapshot is all that the decision depends on.
type Snapshot struct {
	Nodes   []addr.Candidate
	Synced  bool
	Before  []netip.Addr // members by slot
	Own     netip.Addr   // this node's address, if it is known
	IPv6    bool
	CA      []byte
	Name    string // that API servers' certificates have
	Healthy bool
	Late    bool  // the probe of HAProxy timed out
	Fault   error // why something else could not be read
	Ironic  ironic.Seen
}

// Desired is the desired state of HAProxy and of the redirect.
type Desired struct {
	Config haproxy.Config
	CA     []byte // the content of Config's CA file; empty for none
	Rules  redirect.Rules
	Blind  bool  // HAProxy does not answer: it gets no commands
	Fault  error // why the configuration stays as it is
	Ironic ironic.Wanted
}

// Options are what a Room needs.
type Options struct {
	Plan   plan.Plan
	Header string // the line of provenance for rendered files
	Host   Host
	Nodes  Nodes       // nil while the API cannot be asked
	Pods   ironic.Pods // nil while the API cannot be asked, or if Ironic is not balanced
	Trust  Trust
	Daemon Daemon // nil before HAProxy is there
	Filter Filter
}

// Room is the balancer's monitor. Its steps are for shared/loop.
type Room struct {
	Options
	meter *meter // nil before HAProxy is there

	slots   []netip.Addr
	loaded  bool
	on      redirect.Latch // of the API
	ironic  *ironic.Room
	applied haproxy.Config // what HAProxy accepted last
	next    time.Time      // when to check it again
	force   haproxy.Config // the running configuration
	runs    bool           // force is known
	refused string         // the structure that HAProxy refused
	since   time.Time      // when it refused that
	clean   bool           // leftovers were removed
}

// New makes the room. Nothing happens before its first step.
func New(o Options) *Room {
	r := &Room{Options: o}
	if o.Daemon != nil {
		r.meter = &meter{Daemon: o.Daemon, Filter: o.Filter}
		r.Daemon, r.Filter = r.meter, r.meter
	}
	r.ironic = ironic.New(ironic.Options{Plan: o.Plan, Host: o.Host, Pods: o.Pods,
		Daemon: r.Daemon, Filter: r.Filter})
	return r
}
