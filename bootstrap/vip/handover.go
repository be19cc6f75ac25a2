package vip

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// handoverBound is how long the supervisor may take to release the VIPs. It has a bound of its own,
// a master-down time and a margin, or vrrp.Standing; after this one it counts as stuck.
const handoverBound = 10 * time.Second

// handOver asks keepalived to hand the VIP over and reports whether that is done. keepalived holds
// the VIP, below every control plane node, until it receives an advert of a node that took over. A
// node that lists this machine among its peers sends one. Other programs' nodes do not: then
// keepalived releases the VIP by priority 0 as soon as one of them must have taken it.
func (r *Room) handOver() (done bool, err error) {
	now := r.options.Now()
	if r.asked.IsZero() {
		r.asked = now
	}
	if err := r.options.Host.Release(true); err != nil {
		return true, fmt.Errorf("ask the supervisor to release the VIPs: %w", err)
	}
	status, err := r.options.Host.Status()
	if err != nil {
		return true, fmt.Errorf("read the supervisor's status: %w", err)
	}
	return status.PID == 0 || status.Leaving == supervised.Left ||
		now.Sub(r.asked) >= handoverBound, nil
}

// withdrawRelease withdraws what handOver asked for.
func (r *Room) withdrawRelease() error {
	r.asked = time.Time{}
	if err := r.options.Host.Release(false); err != nil {
		return fmt.Errorf("withdraw the request to release the VIPs: %w", err)
	}
	return nil
}

// sources are the addresses from which this machine advertises. Its peers must list them, to
// receive its adverts and to send theirs.
func sources(d Desired) []netip.Addr {
	var own []netip.Addr
	for _, inst := range d.Config.Instances {
		if inst.Source.IsValid() {
			own = append(own, inst.Source)
		}
	}
	return own
}
