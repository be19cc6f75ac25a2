// Package provision is the phase machine of a bootstrap machine: it orders the parts that provision
// hosts on and off, has Ironic deploy each control plane host, and hands provisioning over to the
// cluster when all of them have joined it.
//
// Each step is in the journal before it has an effect, so that a phase machine that was killed, or
// lost its power, goes on where it was: no disk is written twice, and DHCP that has ended never
// begins again.
package provision

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/bootstrap/provision/handover"
	"github.com/onprem-infra/onprem-infra/bootstrap/provision/machine"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/foreign"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/hostfile"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// Host is the bootstrap machine as the room reads and changes it.
type Host interface {
	// Orders are those that the parts have now; none after a boot.
	Orders() (orders.Orders, error)
	WriteOrders(orders.Orders) error
	// Report is the last one of a part; the zero report if there is none.
	Report(orders.Part) (orders.Report, error)
	// Secrets is the file of the hosts' accounts, and a text that changes with the file. The text
	// has nothing of its content.
	Secrets() (file hostfile.File, revision string, err error)
	// Image is the operating system as the machine serves it, once it does.
	Image() (node.Image, error)
	// Traces are what servers saw of hosts, by their names in the plan.
	Traces() (map[string]machine.Trace, error)
	// Note writes what happened to hosts, for people.
	Note(...events.Event) error
	// Rewrite is what a person allows for a host; the zero value for nothing.
	Rewrite(host string) (orders.Rewrite, error)
	// Reversal is what a person asks of the handover; the zero value for nothing.
	Reversal() (orders.Reversal, error)
	// Acceptances are what a person accepts of the preflight.
	Acceptances() ([]orders.Acceptance, error)
	// Foreign are servers of other programs that were seen on the network since the machine booted.
	Foreign() (foreign.List, error)
	// Show writes what status reads.
	Show(progress.Progress) error
}

// Ironic is Ironic's API. An error of Do that is a Refusal is final for that request.
type Ironic interface {
	Drivers(ctx context.Context) ([]string, error)
	Nodes(ctx context.Context) ([]node.Node, error)
	Disks(ctx context.Context, uuid string) (node.Disks, error)
	Do(ctx context.Context, r node.Request) error
}

// Cluster is the cluster's API, and the network that hosts boot from.
type Cluster interface {
	// Published is what the cluster has of the handover; the zero value for nothing.
	Published(ctx context.Context) (notice.Progress, error)
	Publish(ctx context.Context, p notice.Progress) error
	Fleet(ctx context.Context) (scale.Fleet, error)
	// Pause has OpenShift's operator of metal3 wait, or go on.
	Pause(ctx context.Context, pause bool) error
	// Begin lets metal3 begin with hosts.
	Begin(ctx context.Context, hosts []string) error
	// Holders are the MACs of the other machines that answer for the address of the cluster's own
	// Ironic.
	Holders() ([]string, error)
}

// Refusal is an error of Ironic about the request itself: made again, it fails again.
type Refusal interface {
	error
	Refused() bool
}

// Journal is the file of the entries.
type Journal interface {
	Read() ([]ledger.Entry, error)
	// Append returns when the entries would outlast a power cut.
	Append(...ledger.Entry) error
}

// Preflight checks hosts and their network before DHCP is on. It only reads. Hosts that have joined
// the cluster are to run, and are not deployed: provisioning was taken back.
type Preflight interface {
	Run(ctx context.Context, joined []string) (blocking, warnings []string)
}

// Settings are what the plan and the images give.
type Settings struct {
	Plan    *provision.Plan
	Kernel  string // URL of the ramdisk's kernel
	Ramdisk string // URL of the ramdisk
	CA      string // see machine.Host
	Name    string // of this machine, for people
	Own     handover.Cluster
}

// Options are what a Room needs.
type Options struct {
	Settings
	Host      Host
	Ironic    Ironic
	Journal   Journal
	Preflight Preflight
	Cluster   Cluster
	// Joined are the nodes of the control plane, and arbiters, that the cluster's API has listed,
	// and whether it has.
	Joined   func() (nodes []addr.Candidate, listed bool)
	Now      func() time.Time
	Wake     chan<- struct{}
	Notifier loop.Notifier
}

// Room is the phase machine. Its methods are the steps of a loop and for one goroutine, but for
// Check and Metrics.
type Room struct {
	Options
	memory   ledger.Memory
	read     bool                       // the journal was read
	started  bool                       // the start of the program is in the journal
	watched  map[string]machine.Watched // by host
	noted    map[string]noted
	checks   preflight
	reporter loop.Reporter
	unshown  error // why the last round could not be shown
	counted  counted
	handing  handing
}

// New makes the room. Nothing happens before its first step.
func New(o Options) *Room {
	return &Room{Options: o, watched: map[string]machine.Watched{}, noted: map[string]noted{},
		checks:   preflight{due: make(chan struct{}, 1)},
		reporter: loop.Reporter{Notifier: o.Notifier}}
}

// parts are those that the plan needs, in the order in which they go on. On a provisioning network
// with a DHCP server of the user's, dnsmasq still gives boot programs.
func (r *Room) parts() []orders.Part {
	return slices.DeleteFunc(orders.Parts(), func(p orders.Part) bool {
		return p == orders.Address && !r.Plan.Own().IsValid() ||
			p == orders.DHCP && !r.Plan.CIDR.IsValid()
	})
}

// served are the hosts of this phase, which DHCP answers.
func (r *Room) served() (all []mac.MAC) {
	for _, h := range r.Plan.OfPhase(provision.Bootstrap) {
		all = append(all, h.MAC)
	}
	slices.SortFunc(all, mac.MAC.Compare)
	return all
}

// limit is the time that the plan allows for a step; 0 if it names none.
func (r *Room) limit(step string) time.Duration {
	for _, d := range r.Plan.Deadlines {
		if d.Step == step {
			return time.Duration(d.Seconds) * time.Second
		}
	}
	return 0
}

// preflight is the check before DHCP is on. It runs beside the loop, as it waits for BMCs.
type preflight struct {
	due chan struct{}

	mu     sync.Mutex
	of     time.Time // see Result
	joined []string
	result Result
}

// Result is what a preflight found.
type Result struct {
	// Of is when the phase began that it is for: after a person has taken provisioning back, that
	// phase comes again, and the network may be another.
	Of                 time.Time
	At                 time.Time // of its end; zero while there is none
	Blocking, Warnings []string
	Accepted           []orders.Acceptance // of it, by a person
}

// examine has a preflight run for the present phase.
func (r *Room) examine() {
	var joined []string
	for name, h := range r.memory.Hosts {
		if !h.Joined.IsZero() {
			joined = append(joined, name)
		}
	}
	r.checks.mu.Lock()
	r.checks.of, r.checks.joined = r.memory.Since, joined
	r.checks.mu.Unlock()
	loop.Wake(r.checks.due)
}

// recheck is how long after a preflight that found a blocker the next one begins: a person fixes
// what it found.
const recheck = 30 * time.Second

// Check runs a preflight each time the room needs one, until ctx ends. It may be called by one
// goroutine beside the loop.
func (r *Room) Check(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-r.checks.due:
		}
		r.check(ctx)
		select {
		case <-r.checks.due: // asked for while it ran
		default:
		}
		loop.Wake(r.Wake)
	}
}

// CheckDue runs the preflight if the room needs one, for a caller that has no goroutine for Check.
func (r *Room) CheckDue(ctx context.Context) {
	select {
	case <-r.checks.due:
		r.check(ctx)
	default:
	}
}

func (r *Room) check(ctx context.Context) {
	r.checks.mu.Lock()
	of, joined := r.checks.of, r.checks.joined
	r.checks.mu.Unlock()
	blocking, warnings := r.Preflight.Run(ctx, joined)
	if ctx.Err() != nil {
		return
	}
	r.checks.mu.Lock()
	defer r.checks.mu.Unlock()
	r.checks.result = Result{Of: of, At: r.Now(), Blocking: blocking, Warnings: warnings}
}
