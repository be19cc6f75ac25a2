package supervise

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/nft"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// farFilter keeps adverts out that have passed a router. Its zero value is due.
type farFilter struct {
	nft.FarFilter
	at time.Time // when the rules are looked at next
}

// hopLimited are the virtual routers whose adverts must not have passed a router. An instance
// that speaks to the group alone knows of no router that may send IPv6 with another hop limit:
// the router that joins is named to it before it advertises. Groups are those that accept adverts
// of every router.
func hopLimited(instances []keepalived.Instance) (far nft.Far) {
	for _, i := range instances {
		if !i.Source.IsValid() {
			group := nft.Group{Link: string(i.Interface), ID: i.ID, VIP: i.VIP.WithZone("")}
			far.Groups = append(far.Groups, group)
		}
		switch {
		case !speaksToGroup(i) && !vrrp.HopLimited(i.VIP, i.Advert):
		case i.VIP.Is4():
			far.IPv4 = append(far.IPv4, i.ID)
		default:
			far.IPv6 = append(far.IPv6, i.ID)
		}
	}
	slices.Sort(far.IPv4)
	slices.Sort(far.IPv6)
	slices.SortFunc(far.Groups, func(a, b nft.Group) int {
		return cmp.Or(cmp.Compare(a.Link, b.Link), cmp.Compare(a.ID, b.ID), a.VIP.Compare(b.VIP))
	})
	far.IPv4, far.IPv6 = slices.Compact(far.IPv4), slices.Compact(far.IPv6)
	return far
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
