// Package bootserver runs dnsmasq on the host that has the provisioning address: it answers the
// hosts that are ordered, and no others, while the packet filter lets its answers out. On the
// bootstrap machine the phase machine orders them; in the cluster they are those of the plan, while
// the node has the address.
//
// The order of its steps keeps a host from an answer that it must not have. At the start,
// requests are filtered by their MAC before dnsmasq runs, and the fence for answers opens last.
// At the end, the fence closes first, and the filter is removed when dnsmasq has ended.
//
// dnsmasq goes on over a restart of this program, as a host may be in the middle of a transfer. The
// fence closes by itself within Open if this program does not come back.
package bootserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"path"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

const containerName = "onprem-dnsmasq"

// Open is for how long the fence opens each time. A round is a second, so that two of them may be
// late; and a client that got no answer asks again after 4 s (PXE 2.1, 2.2.3).
const Open = 3 * time.Second

// Asked is the file by which the server is probed: it is served in every mode.
const Asked = "autoexec.ipxe"

// Host is the machine as the room reads and changes it.
type Host interface {
	Orders() (orders.Orders, error)
	Report(orders.Report) error
	Links() (addr.Snapshot, error)
	// Exists reports whether there is a regular file.
	Exists(path string) bool
	// Write replaces a file atomically, with its directory, and reports whether it changed.
	Write(f asset.File) (changed bool, err error)
	// Answers returns an error if the TFTP server at an address does not send a file.
	Answers(ctx context.Context, server netip.Addr, file string) error
	// Watch reports the servers of a link that are not the cluster's; an empty link ends that.
	Watch(link string)
}

// Clients are the hosts whose requests a server receives: these, or with Except all but these.
type Clients struct {
	Hosts  []mac.MAC
	Except bool
}

// Fence is the packet filter around the server.
type Fence interface {
	// Keep has the server receive requests of these clients only, and send no answers while the
	// fence is closed. It is closed at first; a change of the clients leaves it as it is.
	Keep(link string, from Clients) error
	// Allow opens it for a time from now.
	Allow(d time.Duration) error
	// Close closes it at once, and Remove removes all of it. It is no error if there is none.
	Close() error
	Remove() error
}

// Daemon keeps dnsmasq's container.
type Daemon interface {
	Ensure(ctx context.Context, spec container.Spec) error
	Signal(sig syscall.Signal) error
	Stop(ctx context.Context, name string) error
	Running() bool
}

// Options are what a Room needs. Only Plan and Host are needed to decide.
type Options struct {
	Plan     plan.Plan       // of a cluster whose hosts are provisioned
	Phase    provision.Phase // whose hosts are answered
	Host     Host
	Fence    Fence
	Daemon   Daemon
	Notifier loop.Notifier
	Now      func() time.Time
}

// Room is a host's DHCP server. Its methods are the steps of a loop and for one
// goroutine, but for Metrics and Reopen.
type Room struct {
	Options
	hosts   atomic.Int64
	serving atomic.Bool
	reopen  atomic.Bool // dnsmasq is to open its log file again

	digest   string // of the container's specification that was started last
	answered bool   // by the running dnsmasq
	read     bool   // dnsmasq has read the present list of hosts
	released bool   // nothing of this room is left on the machine
	unseen   error  // why the last Observe failed
	last     orders.Report
	reports  *orders.Reporter
	status   loop.Reporter
}

// New makes the room. Nothing happens before its first step.
func New(o Options) *Room {
	return &Room{Options: o, reports: orders.NewReporter(orders.DHCP),
		status: loop.Reporter{Notifier: o.Notifier}}
}

// Metrics writes what the room's metrics are now. It may be called by any goroutine.
func (r *Room) Metrics(page *metrics.Page) {
	metrics.DHCPServer{Serving: r.serving.Load(), Hosts: int(r.hosts.Load())}.Onto(page)
}

// Reopen has dnsmasq open its log file again in the next round. It may be called by any goroutine.
func (r *Room) Reopen() { r.reopen.Store(true) }

// Container is dnsmasq's container for a configuration. Another configuration is another container,
// as dnsmasq reads it only when it starts.
func Container(p plan.Plan, conf []byte) container.Spec {
	sum := sha256.Sum256(conf)
	run, leases := path.Dir(layout.DnsmasqConf), layout.Leases
	return container.Spec{
		Name:    containerName,
		Image:   p.Images[spec.IronicImage],
		Command: layout.Dnsmasq(),
		Mounts: []container.Mount{
			{Source: run, Target: run}, // the log is written there
			{Source: leases, Target: leases},
			{Source: layout.TFTP, Target: layout.TFTP, ReadOnly: true},
		},
		// Ports below 1024; frames to hosts without an address, and pings before an offer; the
		// kernel's neighbours of those hosts.
		Capabilities: []string{"CAP_NET_BIND_SERVICE", "CAP_NET_RAW", "CAP_NET_ADMIN"},
		Env:          map[string]string{"ONPREM_CONFIGURATION": hex.EncodeToString(sum[:])},
	}
}
