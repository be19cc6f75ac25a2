package install

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/cause"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
)

// host is one lane.
type host struct {
	name    string
	unknown bool // a card that is none of a host of the plan
	// cluster means that the cluster provisions the host, and knows why it goes no further.
	cluster bool
	joined  time.Time
	blocker string
	blocked time.Time // the last time; zero if the entry is not in the record
	retries int
	seen    []events.Event
	trace   []cause.Point
	gaps    []cause.Gap
	last    cause.Cause // at the end of the record
}

// mostUnknown is how many cards that are none of a host get a lane: a network with other machines
// has many.
const mostUnknown = 8

// hosts are those of a sorted record, by name; behind them cards that are none of a host. others
// counts the cards that have no lane.
func (r Record) hosts(end time.Time) (all []host, others int) {
	named := map[string]bool{}
	unknown := map[mac.MAC]bool{}
	for _, e := range r.Entries {
		named[e.Host] = true
	}
	for _, e := range r.Events {
		named[e.Host] = true
		if e.Host == "" && e.MAC != (mac.MAC{}) {
			unknown[e.MAC] = true
		}
	}
	known := ledger.Fold(r.Entries).Hosts
	for name := range known {
		named[name] = true // of a shortened journal
	}
	delete(named, "")
	lost := r.lost()
	seen, since := append(lost, r.Events...), time.Time{}
	if len(lost) > 0 {
		since = lost[len(lost)-1].Time.Add(1)
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		h := host{name: name, cluster: r.fleet.Has(name), joined: known[name].Joined,
			blocker: known[name].Blocker, retries: known[name].Retries,
			seen: events.Of(seen, name)}
		for _, e := range r.Entries {
			if e.Kind == ledger.Blocked && e.Host == name && h.blocker != "" {
				h.blocked = e.Time
			}
		}
		all = append(all, h.traced(since, end, r.Events))
	}
	cards := slices.SortedFunc(maps.Keys(unknown),
		func(a, b mac.MAC) int { return cmp.Compare(a.String(), b.String()) })
	for i, card := range cards {
		if i == mostUnknown {
			return all, len(cards) - i
		}
		h := host{name: card.String(), unknown: true, seen: events.Of(seen, "", card)}
		all = append(all, h.traced(since, end, r.Events))
	}
	return all, 0
}

// gone is why no cause is known of what the journal alone has.
const gone = "what was seen of it then is gone: the bootstrap machine has booted since"

// traced follows the host to the end of the record, among the events of all. Those before since are
// gone.
func (h host) traced(since, end time.Time, all []events.Event) host {
	h.trace, h.gaps, h.last = cause.Trace(h.seen), cause.Gaps(h.seen), cause.Of(h.seen, end)
	h.last = h.last.Among(all)
	for i, g := range h.gaps {
		h.gaps[i].Cause = g.Among(slices.DeleteFunc(slices.Clone(all),
			func(e events.Event) bool { return !e.Time.Before(g.Until) }))
	}
	for i, g := range h.gaps {
		if g.At.Before(since) {
			h.gaps[i].Why, h.gaps[i].Do = gone, ""
		}
	}
	if h.last.Why != "" && h.last.At.Before(since) {
		h.last.Why, h.last.Do = gone, ""
	}
	for _, p := range h.trace {
		if p.Stage == cause.Joined && h.joined.IsZero() {
			h.joined = p.At // of a record without a journal
		}
	}
	return h
}

// stuck is why the host went no further at the end of the record; empty if it did or was in time.
func (h host) stuck() string {
	switch {
	case !h.joined.IsZero() || h.cluster:
		return ""
	case h.blocker != "":
		return h.blocker
	}
	return h.last.String()
}

// ironic are the states of the host's node, each once.
func (h host) ironic() (all []events.Event) {
	for _, e := range h.seen {
		if e.Source == events.Ironic && e.Kind != events.CallBack {
			all = append(all, e)
		}
	}
	return slices.CompactFunc(all, func(a, b events.Event) bool { return a.Kind == b.Kind })
}
