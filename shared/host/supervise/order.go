package supervise

import (
	"net/netip"
	"path/filepath"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/nft"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// order is what the supervisor must know of a configuration: which instance carries which VIP,
// which of them have a bonus while they hold it, their peers, and how long other routers may take
// until one of them has taken over from a holder with a lower priority.
type order struct {
	vips map[string]netip.Addr // by instance
	// instances is the number of instances that keepalived reports on; vips also has former ones.
	instances int
	peers     []peer          // of all instances, each once
	alone     map[string]bool // by instance: it knows of no other router that could hold its VIP
	far       nft.Far         // the virtual routers that accept adverts of the link alone
	bonus     map[string]bool // by instance: a tracked file says whether it holds its VIP
	patience  time.Duration
	outlives  time.Duration // how long a VIP may stay on a host whose supervisor has ended
	advert    time.Duration // the shortest time between two adverts

	elections map[string]election // by instance, of version 3
	tracking  map[string]tracking // by instance; none if keepalived does not report priorities
}

// peer is another router that adverts go to, on a link of this host.
type peer struct {
	on      string
	address netip.Addr
}

// orderOf reads a configuration.
func orderOf(c keepalived.Config) order {
	o := order{
		vips: map[string]netip.Addr{}, bonus: map[string]bool{}, alone: map[string]bool{},
		elections: map[string]election{}, instances: len(c.Instances),
		tracking: trackingOf(c), far: hopLimited(c.Instances),
	}
	for _, t := range c.Tracks {
		if dir, name := filepath.Split(string(t.File)); filepath.Base(dir) == supervised.HolderDir {
			o.bonus[name] = true
		}
	}
	for _, i := range c.Instances {
		name := string(i.Name)
		o.vips[name] = i.VIP.WithZone("")
		if i.Version == vrrp.V3 {
			o.elections[name] = electionOf(i)
		}
		if speaksToGroup(i) {
			o.alone[name] = true
		}
		for _, p := range unicastPeers(i) {
			if one := (peer{string(i.Interface), p}); !slices.Contains(o.peers, one) {
				o.peers = append(o.peers, one)
			}
		}
	}
	o.setTimes(c.Instances)
	return o
}

// setTimes takes what the slowest and the fastest instance need, or one with keepalived's own
// values.
func (o *order) setTimes(instances []keepalived.Instance) {
	if len(instances) == 0 {
		instances = []keepalived.Instance{{Version: vrrp.V2, Advert: time.Second}}
	}
	o.advert = instances[0].Advert
	for _, i := range instances {
		o.patience = max(o.patience, vrrp.Patience(i.Version, i.Advert))
		o.outlives = max(o.outlives, vrrp.Outlives(i.Version, i.Advert))
		o.advert = min(o.advert, i.Advert)
	}
}

// unicastPeers are the peers of an instance in unicast mode, without a group.
func unicastPeers(i keepalived.Instance) (peers []netip.Addr) {
	for _, p := range i.Peers {
		if i.Source.IsValid() && !p.IsMulticast() {
			peers = append(peers, p.WithZone(""))
		}
	}
	return peers
}

// speaksToGroup says whether a unicast instance has the group for a peer, as it knows no other one.
func speaksToGroup(i keepalived.Instance) bool {
	return i.Source.IsValid() && slices.ContainsFunc(i.Peers, netip.Addr.IsMulticast)
}

// then is the order of the next configuration. keepalived gives up the instances that it has not,
// and reports so only after they have become the past.
func (o order) then(next order) order {
	for name, vip := range o.vips {
		if _, again := next.vips[name]; !again {
			next.vips[name] = vip
		}
	}
	return next
}

// contested are the VIPs that another router may hold.
func (o order) contested() (all []netip.Addr) {
	for name, vip := range o.vips {
		if !o.alone[name] {
			all = append(all, vip)
		}
	}
	return all
}
