// Package lb keeps a control plane node's HAProxy configured and decides whether what comes for the
// API's VIP goes through it: it follows the control plane's nodes without a reload, and takes
// HAProxy out of the way the moment that it does not serve.
package lb

import (
	"context"
	"io/fs"
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/redirect"
)

// Where the room keeps its files; HAProxy's own are named by cluster/haproxy.
const (
	// Memory are the members by slot, across reboots: after a power cut everywhere the balancers
	// must be there before the API is.
	Memory = "/var/lib/onprem-infra/lb-members.json"
	// OwnAddress is where the choice of the node's address is kept, if it was made.
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

// Nodes are the control plane's, as the API last said; synced is false until it has.
type Nodes interface {
	Nodes() (nodes []addr.Candidate, synced bool)
}

// Trust is what API servers' certificates are held against: the CA as PEM, empty for nothing, and
// the name that they have.
type Trust interface {
	Trust() (ca []byte, name string, err error)
}

// Daemon is HAProxy.
type Daemon interface {
	// Running says whether a HAProxy answers, and with which structure it runs. An error means that
	// nobody knows.
	Running(ctx context.Context) (structure string, running bool, err error)
	Stats(ctx context.Context) ([]haproxy.Stat, error)
	Command(ctx context.Context, commands ...string) error
	// Reload returns when HAProxy runs with that structure. Of its errors, refused marks the one
	// that another trial would bring again.
	Reload(ctx context.Context, structure string) (refused bool, err error)
	// Healthy says whether it has a server that is up; a HAProxy that is not there has none. An
	// error says that its answer is late.
	Healthy(ctx context.Context) (bool, error)
}

// Filter is the packet filter.
type Filter interface {
	Ensure(redirect.Rules) (changed bool, err error)
	RemoveLeftovers() (removed []string, err error)
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
	Late    bool  // nobody knows whether it is healthy
	Fault   error // what of the rest could not be read
}

// Desired is what should be.
type Desired struct {
	Config haproxy.Config
	CA     []byte // what belongs into the file that Config names; empty for none
	Rules  redirect.Rules
	Blind  bool  // HAProxy does not answer: nothing is asked of it
	Fault  error // why the configuration stays as it is
}

// Options are what a Room needs.
type Options struct {
	Plan   plan.Plan
	Header string // the line of provenance for rendered files
	Host   Host
	Nodes  Nodes // nil while the API cannot be asked
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
	on      bool           // the redirect, as last decided
	late    int            // looks in a row that nobody answered
	applied haproxy.Config // what HAProxy took last
	next    time.Time      // when it is looked at again
	force   haproxy.Config // what it runs with
	runs    bool           // that is known
	refused string         // the structure that HAProxy would not take
	since   time.Time
	clean   bool // nothing of other programs is left
}

// New makes the room. Nothing happens before its first step.
func New(o Options) *Room {
	r := &Room{Options: o}
	if o.Daemon != nil {
		r.meter = &meter{Daemon: o.Daemon, Filter: o.Filter}
		r.Daemon, r.Filter = r.meter, r.meter
	}
	return r
}
