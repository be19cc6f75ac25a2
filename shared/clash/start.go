package clash

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Policy is what happens to an instance whose ID another router has.
type Policy string

// The policies. Neither stops a live cluster: a host that can send one packet could take its VIPs
// away.
const (
	Report Policy = "report" // it starts, and the clash is reported
	// it does not start for the first time on this host while the other router is there
	Refuse Policy = "refuse"
)

// Policies are all of them, the usual one first.
func Policies() []Policy { return []Policy{Report, Refuse} }

// Snapshot is what a host has received until a time, for the decision which instances may start. It
// does not change.
type Snapshot struct {
	At      time.Time
	Since   map[string]time.Time // since when the host listens, by link
	Adverts []Received           // the last adverts of all routers that are remembered, in no order
}

// Snapshot is what was received until now. since has when the host began to listen on each link; a
// link on which it does not is left out.
func (e *Observer) Snapshot(since map[string]time.Time, now time.Time) Snapshot {
	a := Snapshot{At: now, Since: maps.Clone(since)}
	for at, all := range e.routers {
		for _, s := range all {
			if s.remembered(now) {
				last := Received{Link: at.link, MAC: s.mac, At: s.last, Advert: s.advert}
				a.Adverts = append(a.Adverts, last)
			}
		}
	}
	return a
}

// May reports whether an instance may start, and why it may not. started is whether it has been
// started on this host before, which a later run remembers.
func (a Snapshot) May(p Policy, i Instance, started bool) (bool, string) {
	if p != Refuse || started {
		return true, ""
	}
	for _, h := range a.Adverts {
		same := group{h.Link, h.Advert.From.Is4(), h.Advert.ID} == i.group()
		if same && h.Advert.From != i.Own && !slices.Contains(h.Advert.VIPs, i.VIP) {
			other := &router{mac: h.MAC, advert: h.Advert, last: h.At}
			return false, i.finding(Foreign, h.Advert.From, other).String()
		}
	}
	since, listens := a.Since[i.Link]
	if !listens {
		return false, fmt.Sprintf("this host does not listen on %s yet for other routers with "+
			"the ID %d", i.Link, i.ID)
	}
	if left := ListenTime - a.At.Sub(since); left > 0 {
		return false, fmt.Sprintf("it listens on %s first for other routers with the ID %d",
			i.Link, i.ID)
	}
	return true, ""
}

// Taken are the IDs of the routers on a link that are remembered, of either family, in order.
func (e *Observer) Taken(link string, now time.Time) (out []vrrp.ID) {
	for at, all := range e.routers {
		for _, s := range all {
			if at.link == link && s.remembered(now) {
				out = append(out, at.id)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Propose names a free ID for each one of a cluster that clashes: the next above it that no router
// has, the cluster's own included; after 255 comes 1. So all hosts of the cluster that have
// received the same adverts propose the same. Kinds without a clash, or without a free ID, are left
// out.
func Propose(
	have map[vrrp.Kind]vrrp.ID, clashing []vrrp.ID, taken []vrrp.ID,
) map[vrrp.Kind]vrrp.ID {
	out, used := map[vrrp.Kind]vrrp.ID{}, slices.Clone(taken)
	for _, id := range have {
		used = append(used, id)
	}
	for _, kind := range []vrrp.Kind{vrrp.API, vrrp.Ingress, vrrp.DNS,
		vrrp.Provisioning} {
		id, ok := have[kind]
		if !ok || !slices.Contains(clashing, id) {
			continue
		}
		for range 255 {
			if id++; id == 0 {
				id = 1
			}
			if !slices.Contains(used, id) {
				out[kind], used = id, append(used, id)
				break
			}
		}
	}
	return out
}
