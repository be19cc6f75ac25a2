package protocol

import (
	"net/netip"
	"path/filepath"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Order is what a configuration orders the supervisor to do: which instance carries which VIP,
// which of them have a holder bonus, and how long other routers may need until one of them has
// taken over from a holder with a lower priority.
type Order struct {
	VIPs map[string]netip.Addr // by instance
	// Instances is the number of instances that keepalived reports on; VIPs also has former ones.
	Instances int
	Alone     map[string]bool // by instance: it knows of no other router that could hold its VIP
	Bonus     map[string]bool // by instance: it has a holder bonus
	Patience  time.Duration
	Outlives  time.Duration // how long a VIP may stay on a host whose supervisor has ended
	Advert    time.Duration // the shortest time between two adverts
}

// OrderOf reads a configuration.
func OrderOf(c keepalived.Config) Order {
	o := Order{VIPs: map[string]netip.Addr{}, Bonus: map[string]bool{}, Alone: map[string]bool{},
		Instances: len(c.Instances)}
	for _, t := range c.Tracks {
		if dir, name := filepath.Split(string(t.File)); filepath.Base(dir) == supervised.HolderDir {
			o.Bonus[name] = true
		}
	}
	for _, i := range c.Instances {
		o.VIPs[string(i.Name)] = i.VIP.WithZone("")
		if GroupOnly(i) {
			o.Alone[string(i.Name)] = true
		}
	}
	o.setTimes(c.Instances)
	return o
}

// setTimes uses what the slowest and the fastest instance need, or, without an instance, one with
// keepalived's own values.
func (o *Order) setTimes(instances []keepalived.Instance) {
	if len(instances) == 0 {
		instances = []keepalived.Instance{{Version: vrrp.V2, Advert: time.Second}}
	}
	o.Advert = instances[0].Advert
	for _, i := range instances {
		o.Patience = max(o.Patience, vrrp.Patience(i.Version, i.Advert))
		o.Outlives = max(o.Outlives, vrrp.Outlives(i.Version, i.Advert))
		o.Advert = min(o.Advert, i.Advert)
	}
}

// GroupOnly reports whether a unicast instance has the multicast group for a peer, as it knows no
// other router.
func GroupOnly(i keepalived.Instance) bool {
	return i.Source.IsValid() && slices.ContainsFunc(i.Peers, netip.Addr.IsMulticast)
}

// Then is the order of the next configuration, with the VIPs of instances that it lacks:
// keepalived releases those, and reports so only after the reload.
func (o Order) Then(next Order) Order {
	for name, vip := range o.VIPs {
		if _, again := next.VIPs[name]; !again {
			next.VIPs[name] = vip
		}
	}
	return next
}

// Contested are the VIPs that another router may hold, sorted.
func (o Order) Contested() (all []netip.Addr) {
	for name, vip := range o.VIPs {
		if !o.Alone[name] {
			all = append(all, vip)
		}
	}
	slices.SortFunc(all, netip.Addr.Compare)
	return all
}
