package clash

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Policy is what becomes of an instance whose ID another router has.
type Policy string

// The policies. A cluster that lives is never stopped by either: whoever can send one packet could
// take its VIPs away.
const (
	Report Policy = "report" // it starts, and the clash is told
	Refuse Policy = "refuse" // it does not start for the first time on this host while the other router is there
)

// Policies are all of them, the usual one first.
func Policies() []Policy { return []Policy{Report, Refuse} }

// Air is what a host has heard until a time, as far as it bears on who may start. It does not
// change.
type Air struct {
	At    time.Time
	Since map[string]time.Time // since when the host listens, by link
	Heard []Heard              // the last adverts of all that are remembered, in no order
}

// Air is what the ear has heard until now. since says since when the host has listened on each
// link; one on which it does not is left out.
func (e *Ear) Air(since map[string]time.Time, now time.Time) Air {
	a := Air{At: now, Since: maps.Clone(since)}
	for at, all := range e.speakers {
		for _, s := range all {
			if s.remembered(now) {
				a.Heard = append(a.Heard, Heard{Link: at.link, MAC: s.mac, At: s.last, Advert: s.said})
			}
		}
	}
	return a
}

// May says whether an instance may start, and why it may not. started says that it has been started
// on this host before, which a later run remembers.
func (a Air) May(p Policy, i Instance, started bool) (bool, string) {
	if p != Refuse || started {
		return true, ""
	}
	for _, h := range a.Heard {
		same := router{h.Link, h.Advert.From.Is4(), h.Advert.ID} == i.router()
		if same && h.Advert.From != i.Own && !slices.Contains(h.Advert.VIPs, i.VIP) {
			return false, i.finding(Foreign, h.Advert.From, &speaker{mac: h.MAC, said: h.Advert, last: h.At}).String()
		}
	}
	since, listens := a.Since[i.Link]
	if !listens {
		return false, fmt.Sprintf("this host does not hear on %s yet whether another router has the ID %d", i.Link, i.ID)
	}
	if left := Hearing - a.At.Sub(since); left > 0 {
		return false, fmt.Sprintf("it listens on %s first whether another router has the ID %d", i.Link, i.ID)
	}
	return true, ""
}

// Taken are the IDs that routers on a link have, of either family, in order: what was heard there
// within the time that is remembered.
func (e *Ear) Taken(link string, now time.Time) (out []vrrp.ID) {
	for at, all := range e.speakers {
		for _, s := range all {
			if at.link == link && s.remembered(now) {
				out = append(out, at.id)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Propose names a free ID for each one of a cluster that clashes: the next above it that nobody
// has, the cluster itself included; after 255 comes 1. So all hosts of the cluster that have heard
// the same say the same. Kinds whose ID is free are left out, and so is one for which none is left.
func Propose(have map[vrrp.Kind]vrrp.ID, clashing []vrrp.ID, taken []vrrp.ID) map[vrrp.Kind]vrrp.ID {
	out, used := map[vrrp.Kind]vrrp.ID{}, slices.Clone(taken)
	for _, id := range have {
		used = append(used, id)
	}
	for _, kind := range []vrrp.Kind{vrrp.API, vrrp.Ingress, vrrp.DNS} {
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

// Reach says in words what a host can hear of others, and what it cannot.
func Reach(unicast bool) string {
	if unicast {
		return "hears routers that speak to VRRP's groups, and those that speak to this host; routers that speak unicast to others are not heard unless a switch" +
			" floods it, and do not disturb this cluster, which speaks unicast"
	}
	return "hears routers that speak to VRRP's groups, and those that speak to this host; routers that speak unicast to others are not heard unless a switch floods it," +
		" but hear this cluster, which speaks to the group"
}

// String is the finding in a sentence, with what to do.
func (f Finding) String() string {
	who := f.Who.String()
	says := fmt.Sprintf("VRRPv%d, priority %d, every %v", f.Version, f.Priority, time.Duration(f.IntervalMs)*time.Millisecond)
	switch f.Kind {
	case Foreign:
		return fmt.Sprintf("%s on %s has the virtual router ID %d of %s (%s) for %s (%s): give one of the two another ID%s", who, f.Link, f.ID, f.VIP, f.Instance, vips(f), says, f.free())
	case Stranger:
		return fmt.Sprintf("%s on %s announces %s (%s), and is no node of this cluster (%s): find it by its MAC, and stop its keepalived", who, f.Link, f.VIP, f.Instance, says)
	case Version:
		return fmt.Sprintf("%s announces %s (%s) by VRRPv%d, which this host does not speak: give all nodes one timing", who, f.VIP, f.Instance, f.Version)
	case Interval:
		return fmt.Sprintf("%s announces %s (%s) every %v, unlike this host: give all nodes one timing", who, f.VIP, f.Instance, time.Duration(f.IntervalMs)*time.Millisecond)
	case OneWay:
		return fmt.Sprintf("%s holds %s (%s) beside %s, which outranks it: it does not hear that one; look at packet filters and peers in this direction", who, f.VIP, f.Instance, f.Better)
	case Holders:
		return fmt.Sprintf("%s holds %s (%s) beside %s, which outranks it: it does not hear or understand that one", who, f.VIP, f.Instance, f.Better)
	default:
		return fmt.Sprintf("%s on %s answers for %s (%s), and does not hold it: take the address off that host", who, f.Link, f.VIP, f.Instance)
	}
}

// free names an ID that is free, as it is written into a cluster.yaml.
func (f Finding) free() string {
	if f.Free == 0 {
		return ""
	}
	return fmt.Sprintf(", such as %d, by vrids: {%s: %d}", f.Free, f.For, f.Free)
}

// mostNamed is how many of a foreign router's addresses are said: its owner knows it by them.
const mostNamed = 4

func vips(f Finding) string {
	if len(f.VIPs) == 0 {
		return "no address"
	}
	var all []string
	for _, v := range f.VIPs[:min(len(f.VIPs), mostNamed)] {
		all = append(all, v.String())
	}
	text := strings.Join(all, ", ")
	if more := len(f.VIPs) - mostNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// String is the host's address with its MAC, as far as they are known.
func (h Host) String() string {
	switch {
	case !h.Address.IsValid():
		return h.MAC
	case h.MAC == "":
		return h.Address.String()
	}
	return fmt.Sprintf("%s (%s)", h.Address, h.MAC)
}
