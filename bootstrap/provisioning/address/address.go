// Package address holds the bootstrap machine's address on the provisioning network: it finds the
// card, asks whether another host has the address, adds it, and puts it back when another program
// has removed it.
//
// The address stays while the orders are on, also over a stop or a restart of this program, as
// hosts may be fetching their images. It goes when the orders are off, when Release is asked for,
// and with a reboot. An address that another program has added is used, and never removed.
package address

import (
	"context"
	"log/slog"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
)

// ClaimFile has what DecodeClaim reads. It is empty after a boot, as the links' addresses are.
const ClaimFile = layout.Run + "/address.json"

// Files are the files of the machine that the room reads and writes.
type Files interface {
	Orders() (orders.Orders, error)
	Report(orders.Report) error
	// Claim is what Keep has kept; the zero value if nothing, or after Forget.
	Claim() (Claim, error)
	Keep(Claim) error
	Forget() error
}

// Host is the machine's network.
type Host interface {
	Ethernets() ([]addr.Ethernet, error)
	Links() (addr.Snapshot, error)
	// WhoHas are the MACs of the other hosts of a link that answer for an address. It takes about
	// a second.
	WhoHas(link string, address netip.Addr) ([]string, error)
	// Announce has other hosts replace the MAC that they remember for an address.
	Announce(link string, address netip.Addr) error
	SetUp(link string) error
	MakeLinkLocal(link string) error
	// Add reports whether it has added the address: it does not if the link has it.
	Add(link string, p netip.Prefix) (added bool, err error)
	// Delete removes an address from a link, by the link's index, if it is there.
	Delete(index int, p netip.Prefix) error
	DeleteLoopRoute(address netip.Addr) error
}

// Options are what a Room needs.
type Options struct {
	Plan     plan.Plan // of a cluster whose hosts are provisioned
	Host     Host
	Files    Files
	Notifier loop.Notifier
	Now      func() time.Time
	Log      *slog.Logger
}

// Room is the machine's address. Its methods are the steps of a loop and for one goroutine.
type Room struct {
	options Options
	own     netip.Addr // invalid if the machine needs none
	shared  bool       // the cluster holds the same address later

	probe     Probe
	generated time.Time // when a link-local address was last asked for
	failed    string    // why the last step failed; empty if it did not
	unseen    error     // why the last Observe failed

	last       orders.Report // the state that was decided last
	reports    *orders.Reporter
	unreported error // why the last report was not written
	status     loop.Reporter

	held     atomic.Bool
	taken    atomic.Int64
	restored atomic.Uint64
}

// New makes the room. Nothing happens before its first step.
func New(o Options) *Room {
	p := o.Plan.Provisioning
	return &Room{options: o, own: p.Own(), shared: p.Address == provisioning.One,
		reports: orders.NewReporter(orders.Address), status: loop.Reporter{Notifier: o.Notifier}}
}

// Metrics writes what the room's metrics are now. It may be called by any goroutine.
func (r *Room) Metrics(page *metrics.Page) {
	metrics.BootstrapAddress{Held: r.held.Load(), Taken: int(r.taken.Load()),
		Restored: r.restored.Load()}.Onto(page)
}

// Leave ends in order. The address stays unless the orders are off: this may be a restart.
func (r *Room) Leave(ctx context.Context) error {
	o, err := r.options.Files.Orders()
	if err != nil {
		return err
	}
	if o.Wants(orders.Address) {
		return nil
	}
	return r.Release(ctx)
}

// Release removes the address if this room or an earlier run has added it.
func (r *Room) Release(context.Context) error {
	c, err := r.options.Files.Claim()
	if err != nil || c == (Claim{}) {
		return err
	}
	return r.remove(c)
}
