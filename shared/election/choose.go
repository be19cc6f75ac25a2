package election

import (
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
)

// AddressGap is how long a host may be without an address for a VIP before the VIP's instance goes.
// A DHCP client that replaces an address, and a bridge that takes one over, remove the old one
// first.
const AddressGap = 5 * time.Second

// Observation is what a choice of interfaces depends on.
type Observation struct {
	At     time.Time
	Links  addr.Snapshot
	Agreed []netip.Addr // the addresses by which the node's other programs know it
}

// Choose finds the interface of a VIP and the local host's address there.
func (e Election) Choose(v VIP, o Observation) (addr.Choice, error) {
	return addr.ForVIP(o.Links, v.Via, e.vips, o.Agreed)
}

// Chooser chooses as an Election does, and keeps each choice for AddressGap. The zero value is
// ready.
type Chooser struct {
	last map[netip.Addr]kept // by VIP
}

// kept is a choice, and when it was last found.
type kept struct {
	choice addr.Choice
	at     time.Time
}

// Choose finds the interface of a VIP, or for a while the one that it had.
func (c *Chooser) Choose(e Election, v VIP, o Observation) (addr.Choice, error) {
	choice, err := e.Choose(v, o)
	if err == nil {
		if c.last == nil {
			c.last = map[netip.Addr]kept{}
		}
		c.last[v.Address] = kept{choice: choice, at: o.At}
		return choice, nil
	}
	if last, ok := c.last[v.Address]; ok && o.At.Sub(last.at) < AddressGap {
		return last.choice, nil
	}
	return addr.Choice{}, err
}

// AddressRank is the local host's rank in an election whose ranks are not claimed: it follows from
// its address for the first VIP for which choose finds one, and counts for all VIPs.
func (e Election) AddressRank(choose func(VIP) (addr.Choice, error)) (rank int, ok bool) {
	for _, v := range e.VIPs {
		if on, err := choose(v); err == nil {
			return e.Scheme.Candidates().Spread(on.Address), true
		}
	}
	return 0, false
}
