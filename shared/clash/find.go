package clash

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/advert"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Kind is what is wrong.
type Kind string

// The kinds, a cause before its consequences.
const (
	Foreign       Kind = "foreign-router"    // another router has our ID
	UnknownRouter Kind = "stranger"          // an unknown router announces our VIP
	Version       Kind = "version"           // a member has another VRRP version
	Interval      Kind = "interval"          // a member has another advert interval
	OneWay        Kind = "one-way"           // unicast: a holder gets no adverts of a better one
	Holders       Kind = "two-holders"       // two hosts hold the VIP
	Duplicate     Kind = "duplicate-address" // another host than the holder answers for the VIP
)

// Host is a host of the link.
type Host struct {
	Address netip.Addr `json:"address,omitzero"`
	MAC     string     `json:"mac,omitempty"`
}

// Finding is one thing that is wrong with an instance.
type Finding struct {
	Kind     Kind              `json:"kind"`
	Instance vrrp.InstanceName `json:"instance"`
	For      vrrp.Kind         `json:"for,omitempty"`
	Link     string            `json:"link"`
	ID       vrrp.ID           `json:"id"`
	VIP      netip.Addr        `json:"vip"`
	Sender   Host              `json:"who"`
	// of two holders the better one, whose adverts Sender does not receive
	Better Host `json:"better,omitzero"`

	// What Sender announces; empty for a duplicate address.
	Version    vrrp.Version `json:"version,omitempty"`
	IntervalMs int          `json:"intervalMs,omitempty"`
	Priority   uint8        `json:"priority,omitempty"`
	VIPs       []netip.Addr `json:"vips,omitempty"`
	Last       time.Time    `json:"last"` // when it was seen last

	// an ID that no router on the link has; only for a foreign router
	Free vrrp.ID `json:"free,omitempty"`
}

// Findings are what is wrong now: equal adverts give equal findings in one order. A foreign router
// is found by its first advert, and everything else after three.
func (e *Observer) Findings(now time.Time) []Finding {
	var out []Finding
	for _, i := range e.instances {
		all := e.routers[i.group()]
		for _, from := range senders(all) {
			if from != i.Own {
				out = append(out, i.judge(from, all[from], now)...)
			}
		}
		out = append(out, e.rivals(i, now)...)
		out = append(out, e.duplicate(i, now)...)
	}
	e.propose(out, now)
	return out
}

// propose adds a free ID to each finding of a foreign router.
func (e *Observer) propose(found []Finding, now time.Time) {
	clashing := map[string][]vrrp.ID{} // by link
	for _, f := range found {
		if f.Kind == Foreign {
			clashing[f.Link] = append(clashing[f.Link], f.ID)
		}
	}
	for n := range found {
		if f := &found[n]; f.Kind == Foreign {
			f.Free = Propose(e.ids, clashing[f.Link], e.Taken(f.Link, now))[f.For]
		}
	}
}

func senders(all map[netip.Addr]*router) []netip.Addr {
	return slices.SortedFunc(maps.Keys(all), netip.Addr.Compare)
}

// judge finds what is wrong with one router by itself.
func (i Instance) judge(from netip.Addr, s *router, now time.Time) (out []Finding) {
	found := func(k Kind) { out = append(out, i.finding(k, from, s)) }
	ours := slices.Contains(s.advert.VIPs, i.VIP)
	switch {
	case !ours && s.remembered(now):
		found(Foreign)
	case !ours || !s.holds(now) || s.count < enough:
	case i.Members != nil && !slices.Contains(i.Members, from):
		found(UnknownRouter)
	case s.advert.Version != i.Version:
		found(Version)
	case s.advert.Interval != i.Interval:
		found(Interval)
	}
	return out
}

func (i Instance) finding(k Kind, from netip.Addr, s *router) Finding {
	return Finding{
		Kind: k, Instance: i.Name, For: i.Kind, Link: i.Link, ID: i.ID, VIP: i.VIP,
		Sender: Host{from, s.mac}, Last: s.last,
		Version: s.advert.Version, IntervalMs: int(s.advert.Interval / time.Millisecond),
		Priority: s.advert.Priority, VIPs: slices.Clone(s.advert.VIPs),
	}
}

// holder is a host that holds an instance's VIP.
type holder struct {
	*router // for this host, made of its own state
	from    netip.Addr
}

// rivals are findings: holders beside the best one, for longer than a handover takes.
func (e *Observer) rivals(i Instance, now time.Time) (out []Finding) {
	var holders []holder
	all := e.routers[i.group()]
	for _, from := range senders(all) {
		s := all[from]
		if from != i.Own && slices.Contains(s.advert.VIPs, i.VIP) && s.holds(now) &&
			s.count >= enough {
			holders = append(holders, holder{s, from})
		}
	}
	if me := e.own[i.Name]; !me.since.IsZero() {
		s := &router{since: me.since, last: now, advert: advert.Advert{
			Version: i.Version, Interval: i.Interval, Priority: uint8(me.priority),
			VIPs: []netip.Addr{i.VIP},
		}}
		holders = append(holders, holder{s, i.Own})
	}
	if len(holders) < 2 {
		return nil
	}
	best := slices.MaxFunc(holders, func(a, b holder) int {
		by := cmp.Compare(a.router.advert.Priority, b.router.advert.Priority)
		return cmp.Or(by, a.from.Compare(b.from))
	})
	for _, h := range holders {
		together := min(h.last.Sub(best.since), h.last.Sub(h.since), best.last.Sub(best.since),
			best.last.Sub(h.since))
		if h.from == best.from ||
			together < (enough-1)*max(h.advert.Interval, best.advert.Interval) {
			continue
		}
		kind := Holders
		if i.Unicast && h.advert.Version == best.advert.Version {
			kind = OneWay
		}
		f := i.finding(kind, h.from, h.router)
		f.Better = Host{best.from, best.mac}
		out = append(out, f)
	}
	return out
}

// duplicate compares the host that answers for the VIP with its holder, if one is known. An answer
// from before the takeover is the former holder's. A VIP that this host holds is not judged: its
// kernel still knows the former holder.
func (e *Observer) duplicate(i Instance, now time.Time) []Finding {
	a := e.answers[asked{i.Link, i.VIP}]
	if len(a.at) < enough || now.Sub(a.last()) > remembered || !e.own[i.Name].since.IsZero() {
		return nil
	}
	known := false
	for _, s := range e.routers[i.group()] {
		if !slices.Contains(s.advert.VIPs, i.VIP) || !s.holds(now) {
			continue
		}
		if s.mac == a.mac {
			return nil
		}
		known = known || !s.since.After(a.at[0])
	}
	if !known {
		return nil
	}
	return []Finding{{
		Kind: Duplicate, Instance: i.Name, For: i.Kind, Link: i.Link, ID: i.ID, VIP: i.VIP,
		Sender: Host{MAC: a.mac}, Last: a.last(),
	}}
}
