// Package chronicle merges the journals of several hosts: which host held each VIP when by VRRP,
// which ones announced it when by BGP, how far the hosts' clocks are apart, and a picture of each
// move of a VIP.
package chronicle

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// Host is one host's journal.
type Host struct {
	Name    string
	Ahead   time.Duration   // how far its clock is known to be ahead of the others'
	Entries []journal.Entry // the oldest first
}

// Event is an entry of a host's journal; At is its time corrected by the host's Ahead.
type Event struct {
	At     time.Time
	Host   string
	Before supervised.State // of the same instance on that host; empty for the first entry
	Was    speak.Phase      // before, of the same VIP by BGP; empty for the first entry
	Booted bool             // the host was booted since then
	journal.Entry
}

// gained and lost report whether the host took the VIP over or lost it, or began or ended to
// announce it. If a journal begins when its host has a VIP already, the host has not gained it.
func (e Event) gained() bool {
	if e.Kind == journal.OfRoute {
		return announced(e.Phase) && !announced(e.Was) && e.Was != ""
	}
	return e.State == supervised.Master && e.Before != supervised.Master && e.Before != ""
}

func (e Event) lost() bool {
	if e.Kind == journal.OfRoute {
		return announced(e.Was) && !announced(e.Phase)
	}
	return e.Before == supervised.Master && e.State != supervised.Master
}

// announced reports whether routers have a VIP from a host in a phase.
func announced(p speak.Phase) bool { return p == speak.Announced || p == speak.Demoted }

// quiet is the rest that ends an incident.
const quiet = time.Minute

// Incident is all events of all VIPs until a minute of rest.
type Incident struct {
	Begin, End time.Time // of its first event and its last one
	Events     []Event   // in the order of their times
}

// Chronicle is several journals merged.
type Chronicle struct {
	Hosts     []string   // by name
	Clocks    []Clock    // by names
	Incidents []Incident // the oldest first

	events []Event
}

// Of merges journals. Two of one host are an error of the caller.
func Of(hosts ...Host) Chronicle {
	var c Chronicle
	for _, h := range hosts {
		c.Hosts = append(c.Hosts, h.Name)
		type about struct {
			kind           journal.Kind
			instance, peer string
		}
		last := map[about]journal.Entry{}
		entries := slices.Clone(h.Entries)
		slices.SortStableFunc(entries, func(a, b journal.Entry) int { return a.At.Compare(b.At) })
		for _, e := range entries {
			same := about{e.Kind, e.Instance, e.Peer}
			before, known := last[same]
			c.events = append(c.events, Event{
				At: e.At.Add(-h.Ahead), Host: h.Name, Entry: e, Before: before.State,
				Was: before.Phase, Booted: known && before.Boot != e.Boot,
			})
			last[same] = e
		}
	}
	slices.Sort(c.Hosts)
	slices.SortStableFunc(c.events, func(a, b Event) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Host, b.Host))
	})
	c.Clocks = clocks(c.events)
	for _, e := range c.events {
		n := len(c.Incidents) - 1
		if n < 0 || e.At.Sub(c.Incidents[n].End) > quiet {
			c.Incidents = append(c.Incidents, Incident{Begin: e.At})
			n++
		}
		c.Incidents[n].End, c.Incidents[n].Events = e.At, append(c.Incidents[n].Events, e)
	}
	return c
}

// VIP names a VIP by its address, and by its instance if journals know no address.
type VIP struct {
	Instance string
	Address  netip.Addr
}

func (v VIP) String() string {
	if v.routed() {
		return v.Address.String() + " by BGP"
	}
	if v.Address.IsValid() {
		return v.Address.String() + " (" + v.Instance + ")"
	}
	return v.Instance
}

// routed reports whether it is a VIP that hosts announce by BGP.
func (v VIP) routed() bool {
	return v.Address.IsValid() && v.Instance == journal.RoutedInstance(v.Address)
}

// VIPs are the VIPs with events in an incident, by instance.
func (i Incident) VIPs() (all []VIP) {
	for _, e := range i.Events {
		if e.OfRouter() {
			continue // it is of no VIP
		}
		at := slices.IndexFunc(all, func(v VIP) bool { return v.Instance == e.Instance })
		if at < 0 {
			all, at = append(all, VIP{Instance: e.Instance}), len(all)
		}
		if e.VIP.IsValid() {
			all[at].Address = e.VIP
		}
	}
	slices.SortFunc(all, func(a, b VIP) int { return cmp.Compare(a.Instance, b.Instance) })
	return all
}

// MovedVIPs are the VIPs that a host took over or lost in an incident.
func (i Incident) MovedVIPs() []VIP {
	return slices.DeleteFunc(i.VIPs(), func(v VIP) bool {
		return !slices.ContainsFunc(i.Events,
			func(e Event) bool { return e.Instance == v.Instance && (e.gained() || e.lost()) })
	})
}
