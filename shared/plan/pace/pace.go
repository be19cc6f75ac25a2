// Package pace is a timing profile in numbers, with what follows from it for a cluster.
package pace

import (
	"maps"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/plan/bound"
	"github.com/onprem-infra/onprem-infra/shared/timingproof"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Timing is what the elections run on and what follows from it.
type Timing struct {
	Profile          string `json:"profile"`
	AdvertIntervalMs int    `json:"advertIntervalMs"`
	IPv4Version      int    `json:"ipv4Version"` // of VRRP for IPv4 VIPs; IPv6 ones have 3 always
	PatienceMs       int    `json:"patienceMs"`  // how long a demoted holder waits for a takeover
	SilenceMs        int    `json:"silenceMs"`   // how long health counts without a heartbeat

	Probes []bound.Probe `json:"looks"`
	Bounds []bound.Bound `json:"bounds"`

	// Proven is what allows the profile; nil if nothing has to.
	Proven *Proven `json:"proven,omitempty"`

	// Model is the profile: everything that the bounds follow from.
	Model vrrp.Timing `json:"-"`

	proof map[string]uint32
}

// Proves reports whether the profile needs no proof of a host, or has one.
func (t Timing) Proves(host string) bool {
	return !timingproof.Needed(t.Model) ||
		len(timingproof.Lacking(t.proof, []string{host})) == 0
}

// Proven is the worst host of a proof, and what the profile bears.
type Proven struct {
	Host    string `json:"host"`
	LateUs  int    `json:"lateUs"`  // at worst, in microseconds
	MostUs  int    `json:"mostUs"`  // that the profile allows
	BearsUs int    `json:"bearsUs"` // until a VIP moves without need
}

// Of is a profile in numbers. elected are the VIPs whose holders are elected by VRRP, and proof
// is how late each host was at worst, in microseconds. If balances is false, the balancer is the
// user's own, and there are no bounds.
func Of(
	timing vrrp.Timing, policy vrrp.Policy, elected bound.VIPs, balances bool,
	proof map[string]uint32,
) Timing {
	patience := max(vrrp.Patience(timing.IPv4, timing.Advert),
		vrrp.Patience(vrrp.V3, timing.Advert))
	bounds := []bound.Bound{}
	if balances {
		bounds = bound.Bounds(elected, policy, timing)
	}
	return Timing{
		Profile:          timing.Profile,
		AdvertIntervalMs: int(timing.Advert.Milliseconds()),
		IPv4Version:      int(timing.IPv4),
		PatienceMs:       bound.Milliseconds(patience),
		SilenceMs:        bound.Milliseconds(vrrp.Silence),
		Probes:           bound.Probes(policy, timing),
		Bounds:           bounds,
		Proven:           provenBy(timing, proof),
		Model:            timing,
		proof:            proof,
	}
}

func provenBy(timing vrrp.Timing, proof map[string]uint32) *Proven {
	if !timingproof.Needed(timing) {
		return nil
	}
	p := Proven{BearsUs: int(timingproof.Bears(timing) / time.Microsecond),
		MostUs: int(timingproof.Allowed(timing) / time.Microsecond)}
	for _, host := range slices.Sorted(maps.Keys(proof)) {
		if late := int(proof[host]); late > p.LateUs {
			p.Host, p.LateUs = host, late
		}
	}
	return &p
}
