// Package conflict detects hosts outside of the cluster that answer for an API VIP.
//
// Until a VIP has been on the bootstrap machine once, no other host of the cluster can have it:
// nodes get their configuration through it. So a host that answers for it earlier is outside of the
// cluster, and would hold the address beside the bootstrap machine. When the VIP is on this machine
// it is settled for good, also for later starts and after a reboot: from then on VRRP decides. If
// no host answers, it is not settled: keepalived may wait for its image for hours, and a host may
// come meanwhile. So probing goes on, which costs one packet a second.
//
// A VIP that is in no network of this machine cannot be probed, and counts as free. A holder that
// left is noticed 23 to 55 s later, as the kernel trusts an answer for up to 45 s. A router that
// answers for every address of its network (proxy ARP) is known by its hardware address if it is a
// gateway of that link; such a gateway that holds the VIP itself is not noticed. For any other
// router a person must state that the VIP is free.
package conflict

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// Network is the machine's network. No call waits for another host.
type Network interface {
	Links() (addr.Snapshot, error)
	// Ask has the kernel resolve an address on a link, by ARP or NDP.
	Ask(link string, address netip.Addr) error
	// Neighbour is what the kernel has found.
	Neighbour(link string, address netip.Addr) (addr.Neighbour, error)
}

// Finding is what is known of a VIP. The zero value means that no host is in the way.
type Finding struct {
	Pending bool // no host has answered, and one still may
	Holder  Host // that has answered; empty for none
	Router  Host // that has answered as it does for every address; empty for none
}

// Host is a host that answers for a VIP.
type Host struct{ Link, MAC string }

// Options are what a Detector needs.
type Options struct {
	Plan     plan.Plan
	Settled  []netip.Addr // VIPs that an earlier run has settled
	Free     []netip.Addr // VIPs that count as free, whichever host answers
	Network  Network
	Remember func(settled []netip.Addr) error
	Wake     chan<- struct{} // asks for a round when a finding changes
}

// Detector detects conflicts for the VIPs that this machine holds first.
type Detector struct {
	options Options

	// For Run alone.
	open    []netip.Addr
	settled []netip.Addr
	unsaved bool // settled is more than could be remembered
	waited  bool // for the first answer
	asked   map[netip.Addr]question
	known   map[netip.Addr]Finding

	findings *loop.Latest[map[netip.Addr]Finding]
}

// question is an open question for a VIP.
type question struct {
	link  string
	since time.Time // without an answer
	free  bool      // no host has answered in time
}

// New makes a detector that has probed nothing yet.
func New(o Options) *Detector {
	open := slices.DeleteFunc(election.Addresses(o.Plan, role.Bootstrap),
		func(vip netip.Addr) bool {
			return slices.Contains(o.Settled, vip)
		})
	return &Detector{
		options: o, open: open, settled: o.Settled, asked: map[netip.Addr]question{},
		known: map[netip.Addr]Finding{}, findings: loop.NewLatest[map[netip.Addr]Finding](o.Wake),
	}
}

// Findings are what is known of the VIPs that are not settled and not free. At first it waits as
// long as an answer usually takes, so that keepalived usually does not start beside a conflict. A
// later answer is in time too, as keepalived listens before it advertises.
func (d *Detector) Findings(ctx context.Context) (map[netip.Addr]Finding, error) {
	return d.findings.Get(ctx)
}
