package supervise

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/nft"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// farFilter keeps adverts out that have passed a router. Its zero value is due.
type farFilter struct {
	nft.FarFilter
	at time.Time // when the rules are looked at next
}

// hopLimited are the virtual routers whose adverts must not have passed a router. An instance that
// speaks to the group alone knows of nobody who may send IPv6 with another hop limit: the router
// that joins is named to it before it advertises.
func (o order) hopLimited(paces map[string]pace) (far nft.Far) {
	for name, vips := range o.vips {
		for _, vip := range vips {
			id := o.ids[name]
			switch {
			case id == 0 || !o.alone[name] && !vrrp.HopLimited(vip, paces[name].advert):
			case vip.Is4():
				far.IPv4 = append(far.IPv4, id)
			default:
				far.IPv6 = append(far.IPv6, id)
			}
		}
	}
	slices.Sort(far.IPv4)
	slices.Sort(far.IPv6)
	return nft.Far{IPv4: slices.Compact(far.IPv4), IPv6: slices.Compact(far.IPv6)}
}

// groups are the virtual routers that take adverts from everybody, by the link of each instance.
func (o order) groups(multicast map[string]string) (all []nft.Group) {
	for name, link := range multicast {
		if id, vips := o.ids[name], o.vips[name]; id != 0 && len(vips) == 1 {
			all = append(all, nft.Group{Link: link, ID: id, VIP: vips[0]})
		}
	}
	slices.SortFunc(all, func(a, b nft.Group) int {
		return cmp.Or(cmp.Compare(a.Link, b.Link), cmp.Compare(a.ID, b.ID), a.VIP.Compare(b.VIP))
	})
	return all
}

// dropFar has the kernel drop adverts that have passed a router before keepalived starts, and looks
// once a beat whether the rules are still there: a program may load all rules anew. keepalived
// itself compares hops only for peers that it knows. A kernel that refuses costs the host this
// protection and no VIP; the status reports it.
func (s *supervisor) dropFar(now time.Time) {
	if s.inForce == "" || now.Add(along).Before(s.far.at) {
		return
	}
	s.far.at = now.Add(beat)
	changed, err := s.far.Keep(s.order.far)
	s.note("drop adverts that have passed a router", err)
	if changed {
		s.Log.Info("drop adverts that have passed a router",
			"ipv4", fmt.Sprint(s.order.far.IPv4), "ipv6", fmt.Sprint(s.order.far.IPv6),
			"or_name_other_vips", fmt.Sprint(s.order.far.Groups))
	}
}
