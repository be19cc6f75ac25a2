// Package install draws how hosts were installed: by a bootstrap machine, by the journal of its
// phase machine and the events of its programs; and by the cluster after it, by the objects of its
// API. It has a lane for each host, and why a boot led nowhere.
package install

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/chronicle/fleet"
	"github.com/onprem-infra/onprem-infra/shared/operator/workers"
	"github.com/onprem-infra/onprem-infra/shared/operator/workers/objects"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
)

// Record is what a bootstrap machine has written of an installation, and what was saved of the
// cluster's API.
type Record struct {
	Entries []ledger.Entry
	Events  []events.Event
	Fetches []Fetch
	Saved   []workers.World // one for each file

	fleet fleet.Fleet // of Saved, once the record is sorted
}

// Empty reports whether there is nothing to draw. Requests and Nodes alone belong to no host.
func (r Record) Empty() bool {
	return len(r.Entries)+len(r.Events) == 0 && fleet.Of(r.Saved...).Empty()
}

// TakeObjects takes in a text of objects of the cluster's API. ours is false for a text that is
// none, such as a journal. unread is what of it cannot be read, in words.
func (r *Record) TakeObjects(text []byte) (unread []string, ours bool) {
	w, ours := objects.Decode(text)
	if ours {
		r.Saved = append(r.Saved, w)
	}
	return w.Unread, ours
}

// Take takes the lines of the phase machine's journal and of events out of a text, and adds them to
// the record. It returns the other lines, and how many of those that it took cannot be read. A line
// that a power cut or a full disk has cut off belongs to what stands before it; one with "==>"
// begins the journal of another host.
func (r *Record) Take(text []byte) (rest []byte, broken int) {
	ours := false
	for line := range bytes.Lines(text) {
		var of struct {
			Instance string
			Source   events.Source
			Kind     string
		}
		err := json.Unmarshal(line, &of)
		fetch, logged := readFetch(string(line))
		switch {
		case logged && fetch.From.IsValid():
			r.Fetches = append(r.Fetches, fetch)
		case logged:
		case len(bytes.TrimSpace(line)) == 0:
			rest = append(rest, line...)
		case err != nil && ours && !bytes.HasPrefix(line, []byte("==>")):
			broken++
		case err != nil || of.Instance != "" || of.Kind == "":
			rest, ours = append(rest, line...), false
		case of.Source != "":
			some, bad := events.Decode(line)
			r.Events, broken, ours = append(r.Events, some...), broken+bad, true
		default:
			some, err := ledger.Decode(append(bytes.TrimSpace(line), '\n'))
			if err != nil {
				broken++
			}
			r.Entries, ours = append(r.Entries, some...), true
		}
	}
	return rest, broken
}

// sorted is the record in the order of times, without what stands in it twice: files may be named
// twice, and a program that restarts writes the present state again.
func (r Record) sorted() Record {
	r.fleet = fleet.Of(r.Saved...)
	all := Record{Entries: slices.Clone(r.Entries),
		Events: append(slices.Clone(r.Events), r.fetched()...), fleet: r.fleet}
	slices.SortStableFunc(all.Entries,
		func(a, b ledger.Entry) int { return a.Time.Compare(b.Time) })
	seen := map[string]bool{}
	all.Entries = slices.DeleteFunc(all.Entries, func(e ledger.Entry) bool {
		line := string(ledger.Encode(e))
		again := seen[line]
		seen[line] = true
		return again
	})
	_, end := all.span()
	all.fleet = all.fleet.Until(end)
	events.Sort(all.Events)
	once := map[events.Event]bool{}
	all.Events = slices.DeleteFunc(all.Events, func(e events.Event) bool {
		e.Time = e.Time.UTC()
		again := once[e]
		once[e] = true
		return again
	})
	return all
}

// lost are events that the journal still shows after a boot of the machine, with which the events
// themselves are gone.
func (r Record) lost() (all []events.Event) {
	first := slices.IndexFunc(r.Events,
		func(e events.Event) bool { return e.Source != events.Ignition })
	for _, e := range r.Entries {
		if first >= 0 && !e.Time.Before(r.Events[first].Time) {
			break
		}
		if source, kind := shows(e); kind != "" {
			all = append(all, events.Event{Time: e.Time, Host: e.Host, Source: source, Kind: kind})
		}
	}
	return all
}

// shows is the event that an entry shows; none if kind is empty.
func shows(e ledger.Entry) (source events.Source, kind string) {
	switch e.Kind {
	case ledger.Asked:
		switch e.Verb {
		case node.BootNet, node.BootDisk:
			return events.Provision, string(e.Verb)
		case node.Inspect:
			return events.Provision, events.BootInspect
		}
	case ledger.Disk:
		return events.Ironic, events.CallBack // an inspection found it
	case ledger.Fetched:
		return events.HTTP, "image"
	case ledger.Written:
		return events.Ironic, string(node.Active)
	case ledger.Joined:
		return events.Node, events.Joined
	}
	return "", ""
}

// times are those of what the bootstrap machine has written. The log of the machine config server
// is none of its own, and goes on for as long as the cluster gets hosts.
func (r Record) times() (all []time.Time) {
	for _, e := range r.Entries {
		all = append(all, e.Time)
	}
	for _, e := range r.Events {
		if e.Source != events.Ignition {
			all = append(all, e.Time)
		}
	}
	return all
}

// until is when the bootstrap machine wrote last: what its hosts did later is not known. Without a
// machine it is the end of the record.
func (r Record) until() time.Time {
	if all := r.times(); len(all) > 0 {
		return slices.MaxFunc(all, time.Time.Compare)
	}
	_, end := r.span()
	return end
}

// quiet is a rest in which a clock was set right, or another installation began: what was before it
// would leave no room in the picture.
const quiet = 7 * 24 * time.Hour

// span is from the first line of a record to the last, behind the last long rest.
func (r Record) span() (begin, end time.Time) {
	all := append(r.times(), r.fleet.Times()...)
	slices.SortFunc(all, time.Time.Compare)
	for _, at := range all {
		if begin.IsZero() || at.Sub(end) > quiet {
			begin = at
		}
		end = at
	}
	return begin, end
}
