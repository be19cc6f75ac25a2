package adverts

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/nft"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/pace"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/protocol"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// hopLimited are the virtual routers whose adverts must not have passed a router. An instance that
// advertises to the group alone knows of no router that may send IPv6 with another hop limit: it
// learns of a router that joins before that router advertises. Groups are those that accept adverts
// of every router.
func hopLimited(instances []keepalived.Instance) (far nft.Far) {
	for _, i := range instances {
		if !i.Source.IsValid() {
			group := nft.Group{Link: string(i.Interface), ID: i.ID, VIP: i.VIP.WithZone("")}
			far.Groups = append(far.Groups, group)
		}
		switch {
		case !protocol.GroupOnly(i) && !vrrp.HopLimited(i.VIP, i.Advert):
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

// DropFar has the kernel drop adverts that have passed a router before keepalived starts, and
// compares the rules once a beat: a program may load all rules anew. keepalived itself compares
// hops only for peers that it knows. If the kernel refuses, the host loses this protection and no
// VIP, and the status reports it.
func (a *Adverts) DropFar(now time.Time) {
	if !pace.Due(a.farAt, now) {
		return
	}
	a.farAt = now.Add(pace.Beat)
	changed, err := a.filter.Keep(a.far)
	a.tasks.Note("drop adverts that have passed a router", err)
	if changed {
		a.log.Info("drop adverts that have passed a router",
			"ipv4", fmt.Sprint(a.far.IPv4), "ipv6", fmt.Sprint(a.far.IPv6),
			"or_name_other_vips", fmt.Sprint(a.far.Groups))
	}
}
