// Package chaos runs schedules of faults in a whole cluster of the lab, each begun from a cluster
// at rest, while observers outside the nodes sample the holder of the API VIP and the MAC address
// at which its neighbours find it. The invariants are checked afterwards, on the recorded samples.
package chaos

import (
	"cmp"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// The precision of a measured time: the kernels are sampled so often for the VIP, and on a machine
// of two cores that others use too a time shorter than the noise is no finding.
const (
	sample = 10 * time.Millisecond
	noise  = 60 * time.Millisecond
	blur   = sample + noise
)

// What others do in their own time.
const (
	secondBurst = time.Second // keepalived announces the VIP again, after it has taken a VIP
	minute      = time.Minute // and again and again, if the timing has no other value
	// resolves is when a kernel asks again that has asked in vain for a neighbour's link address.
	// Until then it sends nothing there, whatever the wire is like
	// (net.ipv4.neigh.default.retrans_time_ms, and IPv6's; RFC 4861 10).
	resolves = time.Second
	// forgets is how long it goes on to use an address that it knew, while it asks in vain whether
	// that is still so: three times. Nodes see to it that their kernels know each other.
	forgets = 3 * resolves
)

// Bounds are what the rules measure with.
type Bounds struct {
	Two      time.Duration // for which two hosts that receive each other may hold the VIP
	None     time.Duration // for which no host may, while a node is well
	Astray   time.Duration // for which neighbours may send to another host
	Recovers time.Duration // after which a node is what it was before a fault that has ended
	Calm     time.Duration // after which it makes no difference that packets were lost
	Advert   time.Duration
	Ranked   bool // nodes have ranks, and a holder its bonus
}

// boundsOf follow from a cluster's plan.
func boundsOf(p plan.Plan) Bounds {
	t, scheme := p.Timing.Model, p.VRRP.ControlPlane.Candidates()
	lb := t.Checks[vrrp.CheckLB]
	down := vrrp.MasterDown(t.IPv4, scheme.Lowest(), t.Advert)
	b := Bounds{
		Two:      t.Advert + vrrp.Skew(t.IPv4, scheme.Lowest(), t.Advert),
		Astray:   max(secondBurst, cmp.Or(t.Refresh, minute)) + t.Advert,
		Recovers: lb.Detects(lb.Timeout, lb.Timeout) + down,
		Calm:     resolves + down + 2*t.Advert,
		Advert:   t.Advert,
		Ranked:   len(scheme.Ranks) > 0,
	}
	for _, bound := range p.Timing.Bounds {
		if bound.Scenario == "power-loss" {
			b.None = time.Duration(bound.Ms) * time.Millisecond
		}
	}
	return b
}
