package clash

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Kind is what is wrong.
type Kind string

// The kinds, the likelier cause of the others first.
const (
	Foreign   Kind = "foreign-router"    // another router has our ID: hosts that hear both obey either
	Stranger  Kind = "stranger"          // who is no member of the cluster announces our VIP
	Version   Kind = "version"           // a member speaks another version of VRRP, and nobody else understands it
	Interval  Kind = "interval"          // a member announces itself in another interval
	OneWay    Kind = "one-way"           // unicast: a holder goes on though a better one has it, whom it does not hear
	Holders   Kind = "two-holders"       // two hosts hold the VIP
	Duplicate Kind = "duplicate-address" // another host than the holder answers for the VIP
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
	Who      Host              `json:"who"`
	Better   Host              `json:"better,omitzero"` // of two holders the one that should be it; Who does not hear it

	// What Who announces; of a duplicate address nothing.
	Version    vrrp.Version `json:"version,omitempty"`
	IntervalMs int          `json:"intervalMs,omitempty"`
	Priority   uint8        `json:"priority,omitempty"`
	VIPs       []netip.Addr `json:"vips,omitempty"`
	Last       time.Time    `json:"last"` // when it was seen

	Free vrrp.ID `json:"free,omitempty"` // an ID that nobody has who was heard on the link; of a foreign router alone
}

// Findings are what is wrong now: equal hearings give equal findings in one order. A foreign router
// is found by its first advert, and everything else when it has lasted for three.
func (e *Ear) Findings(now time.Time) []Finding {
	var out []Finding
	for _, i := range e.instances {
		all := e.speakers[i.router()]
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

// propose says of each foreign router which ID is free.
func (e *Ear) propose(found []Finding, now time.Time) {
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

func senders(all map[netip.Addr]*speaker) []netip.Addr {
	out := make([]netip.Addr, 0, len(all))
	for from := range all {
		out = append(out, from)
	}
	slices.SortFunc(out, netip.Addr.Compare)
	return out
}

// judge is what is wrong with one speaker by itself.
func (i Instance) judge(from netip.Addr, s *speaker, now time.Time) (out []Finding) {
	found := func(k Kind) { out = append(out, i.finding(k, from, s)) }
	ours := slices.Contains(s.said.VIPs, i.VIP)
	switch {
	case !ours && s.remembered(now):
		found(Foreign)
	case !ours || !s.holds(now) || s.count < enough:
	case i.Members != nil && !slices.Contains(i.Members, from):
		found(Stranger)
	case s.said.Version != i.Version:
		found(Version)
	case s.said.Interval != i.Interval:
		found(Interval)
	}
	return out
}

func (i Instance) finding(k Kind, from netip.Addr, s *speaker) Finding {
	return Finding{
		Kind: k, Instance: i.Name, For: i.Kind, Link: i.Link, ID: i.ID, VIP: i.VIP, Who: Host{from, s.mac}, Version: s.said.Version,
		IntervalMs: int(s.said.Interval / time.Millisecond), Priority: s.said.Priority, VIPs: slices.Clone(s.said.VIPs), Last: s.last,
	}
}

// holder is one that holds an instance's VIP.
type holder struct {
	from        netip.Addr
	self        bool
	speaker     *speaker // also of this host, made up
	since, last time.Time
}

// rivals are the holders that the best one has beside it for longer than a hand-over takes.
func (e *Ear) rivals(i Instance, now time.Time) (out []Finding) {
	var holders []holder
	all := e.speakers[i.router()]
	for _, from := range senders(all) {
		if s := all[from]; from != i.Own && slices.Contains(s.said.VIPs, i.VIP) && s.holds(now) && s.count >= enough {
			holders = append(holders, holder{from: from, speaker: s, since: s.since, last: s.last})
		}
	}
	if me := e.own[i.Name]; !me.since.IsZero() {
		s := &speaker{since: me.since, last: now}
		s.said.Version, s.said.Interval, s.said.Priority, s.said.VIPs = i.Version, i.Interval, uint8(me.priority), []netip.Addr{i.VIP}
		holders = append(holders, holder{from: i.Own, self: true, speaker: s, since: me.since, last: now})
	}
	if len(holders) < 2 {
		return nil
	}
	best := slices.MaxFunc(holders, func(a, b holder) int {
		return cmp.Or(cmp.Compare(a.speaker.said.Priority, b.speaker.said.Priority), a.from.Compare(b.from))
	})
	for _, h := range holders {
		together := earlier(h.last, best.last).Sub(later(h.since, best.since))
		if h.from == best.from || together < (enough-1)*max(h.speaker.said.Interval, best.speaker.said.Interval) {
			continue
		}
		kind := Holders
		if i.Unicast && h.speaker.said.Version == best.speaker.said.Version {
			kind = OneWay
		}
		f := i.finding(kind, h.from, h.speaker)
		f.Better = Host{best.from, best.speaker.mac}
		out = append(out, f)
	}
	return out
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// duplicate compares who answers for the VIP with who holds it. While nobody is known to hold it,
// nothing can be said. What was answered before the holder came is the former one's. And this host
// asks nobody for what it holds itself: its kernel goes on knowing who had it before.
func (e *Ear) duplicate(i Instance, now time.Time) []Finding {
	a := e.answers[asked{i.Link, i.VIP}]
	if len(a.at) < enough || now.Sub(a.last()) > remembered || !e.own[i.Name].since.IsZero() {
		return nil
	}
	known := false
	for _, s := range e.speakers[i.router()] {
		if !slices.Contains(s.said.VIPs, i.VIP) || !s.holds(now) {
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
	return []Finding{{Kind: Duplicate, Instance: i.Name, For: i.Kind, Link: i.Link, ID: i.ID, VIP: i.VIP, Who: Host{MAC: a.mac}, Last: a.last()}}
}
