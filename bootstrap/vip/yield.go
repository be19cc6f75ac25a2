package vip

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// yieldBound is how long the supervisor may take to leave in order. It has a bound of its own, one
// master-down time and a margin, or vrrp.Standing; one that takes longer does nothing any more.
const yieldBound = 10 * time.Second

// yield asks keepalived to hand the VIP over and says whether that is done: it goes on holding the
// VIP, below every control plane node, until one of them is heard that has taken it. One that lists
// this machine among its peers is; of today's nodes none does, and then the VIP leaves by priority
// 0 as soon as one of them must have taken it.
func (r *Room) yield() (done bool, err error) {
	now := r.now()
	if r.yields.IsZero() {
		r.yields = now
	}
	if err := r.host.Leave(true); err != nil {
		return true, fmt.Errorf("ask the supervisor to leave: %w", err)
	}
	status, err := r.host.Status()
	if err != nil {
		return true, fmt.Errorf("read the supervisor's status: %w", err)
	}
	return status.PID == 0 || status.Leaving == supervised.Left || now.Sub(r.yields) >= yieldBound, nil
}

// stay takes back what yield asked for.
func (r *Room) stay() error {
	r.yields = time.Time{}
	if err := r.host.Leave(false); err != nil {
		return fmt.Errorf("take back the supervisor's order to leave: %w", err)
	}
	return nil
}

// sources are the addresses under which this machine speaks to its peers: what they must list to
// hear from it, and it from them.
func sources(d Desired) []netip.Addr {
	var own []netip.Addr
	for _, inst := range d.Config.Instances {
		if inst.Source.IsValid() {
			own = append(own, inst.Source)
		}
	}
	return own
}
