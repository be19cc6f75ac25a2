// Package journal records when a host took a VIP over or lost it, and why: by VRRP, and by BGP.
package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// Path is where a host keeps its journal: a JSON object a line, the oldest first.
const Path = "/var/lib/onprem-infra/journal.jsonl"

// most is how many entries are kept: a VIP that moves once a day has a year, and the file stays
// below some 100 kB.
const most = 500

// mostClashes is the maximum of entries about clashes, and also of those about routers and what
// they report: a sender of adverts, or a router, must not push out other entries.
const mostClashes = 100

// Entry is one change of a VRRP instance's state on a host or, with Clash, the begin or the end of
// a disturbance. With a Kind it is a change of what the host announces by BGP. The form is public:
// fields may be added.
type Entry struct {
	At       time.Time        `json:"at"` // by the host's clock, in UTC
	Instance string           `json:"instance"`
	VIP      netip.Addr       `json:"vip,omitzero"`
	State    supervised.State `json:"state,omitempty"`    // since then
	Priority int              `json:"priority"`           // effective, at the time
	Why      string           `json:"why"`                // for people; the wording may change
	Other    netip.Addr       `json:"other,omitzero"`     // which had it before, or has it now
	Boot     string           `json:"boot,omitempty"`     // names the run of the host's kernel
	Clash    string           `json:"clash,omitempty"`    // the disturbance's name in package clash
	Silent   int              `json:"silentMs,omitempty"` // since Other's last advert, if timed out
	Late     bool             `json:"late,omitempty"`     // not observed: at any time before

	Announcement
}

// Observation is what is observed of a host at one time.
type Observation struct {
	At        time.Time
	Boot      string
	Status    supervised.Status
	VIPs      map[string]netip.Addr // by instance
	Failing   []string              // checks that do not pass here
	Barred    map[string][]string   // by instance, the checks that have it in the state FAULT
	Announced map[string]Announced  // by instance, the last advert of another host
}

// Announced is another host's last advert for a VIP.
type Announced struct {
	By       netip.Addr
	Priority int       // 0: it releases the VIP
	At       time.Time // when it was received
	// Released is one more host, which released the VIP less than a second before; the zero Addr
	// if none did.
	Released netip.Addr
}

// Releases reports whether an advert of a priority is a release: 0 ends keepalived, and 1 demotes a
// holder that serves until another host has taken over.
func Releases(priority int) bool { return priority <= 1 }

// Journal is the entries of one host, and its last observation. Its methods are for one goroutine.
type Journal struct {
	entries  []Entry
	observed bool
	failing  map[string][]string // by instance: failing checks when its state began, or at first
	daemon   daemon
	routed   routed
}

// daemon identifies a keepalived process.
type daemon struct{ pid, restarts int }

// Entries are all entries, the oldest first.
func (j *Journal) Entries() []Entry { return slices.Clone(j.entries) }

// Note applies an observation, and returns the entries that it has added. A supervisor without any
// status does not count as a change.
func (j *Journal) Note(l Observation) (added []Entry) {
	if j.failing == nil {
		j.failing = map[string][]string{}
	}
	for _, name := range slices.Sorted(maps.Keys(l.Status.Instances)) {
		now, before := l.Status.Instances[name], j.last(name)
		rebooted := before.Boot != l.Boot && !j.observed
		if before.State == now.State && !rebooted {
			if !j.observed { // a check that fails already is no reason for its end
				j.failing[name] = slices.Clone(l.Failing)
			}
			continue
		}
		e := Entry{
			At: l.At.UTC().Truncate(time.Millisecond), Instance: name, VIP: l.VIPs[name],
			State: now.State, Priority: now.Priority, Boot: l.Boot,
			Late: !j.observed && before.State != "",
		}
		e.Why, e.Other = j.why(before, l, name)
		if e.State == supervised.Master && e.Other.IsValid() {
			e.Silent = int(lapsed(now, l.Announced[name], l.At) / time.Millisecond)
		}
		j.entries, added = append(j.entries, e), append(added, e)
		j.failing[name] = slices.Clone(l.Failing)
	}
	j.observed = j.observed || len(l.Status.Instances) > 0
	j.daemon = daemon{l.Status.PID, l.Status.Restarts}
	j.trim()
	return added
}

// Disturbed adds an entry about a clash, and returns it. At, Instance, VIP, Why, Other, Boot and
// Clash are those of e, State and Priority those of the instance's last change of state.
func (j *Journal) Disturbed(e Entry) Entry {
	before := j.last(e.Instance)
	if e.State = before.State; e.State == "" {
		e.State = supervised.Init
	}
	e.At, e.Priority, e.Late = e.At.UTC().Truncate(time.Millisecond), before.Priority, false
	j.entries = append(j.entries, e)
	j.trim()
	return e
}

// last is an instance's newest change of state, the zero value when there is none.
func (j *Journal) last(instance string) Entry {
	return j.newest(Entry{Instance: instance})
}

// newest is the last entry about the same as another one, the zero value when there is none.
func (j *Journal) newest(like Entry) Entry {
	for _, e := range slices.Backward(j.entries) {
		if e.Clash == "" && e.about(like) {
			return e
		}
	}
	return Entry{}
}

// about reports whether two entries are about the same thing: the newer one replaces the older.
func (e Entry) about(o Entry) bool {
	return e.Kind == o.Kind && e.Instance == o.Instance && e.Peer == o.Peer
}

// beside reports whether other hosts or routers can cause entries of this kind: trim limits them.
func (e Entry) beside() bool {
	return e.Clash != "" || e.Kind == OfOthers || e.OfRouter()
}

// OfRouter reports whether an entry is about a router, and so of no VIP.
func (e Entry) OfRouter() bool { return e.Kind == OfSession || e.Kind == OfBFD }

// trim drops the oldest entries, but keeps the newest one about each thing.
func (j *Journal) trim() {
	replaced := func(i int) bool {
		e := j.entries[i]
		return e.Clash != "" || slices.ContainsFunc(j.entries[i+1:],
			func(o Entry) bool { return o.Clash == "" && o.about(e) })
	}
	clashes, routers := 0, 0
	for i := len(j.entries) - 1; i >= 0; i-- {
		count := &routers
		if j.entries[i].Clash != "" {
			count = &clashes
		}
		if !j.entries[i].beside() {
			continue
		}
		if *count++; *count > mostClashes && replaced(i) {
			j.entries = slices.Delete(j.entries, i, i+1)
		}
	}
	for i := 0; len(j.entries) > most && i < len(j.entries); {
		if replaced(i) {
			j.entries = slices.Delete(j.entries, i, i+1)
		} else {
			i++
		}
	}
}

// why is the reason of a change, and the other host in it.
func (j *Journal) why(before Entry, l Observation, name string) (string, netip.Addr) {
	now, other := l.Status.Instances[name], l.Announced[name]
	switch {
	case before.State == "" && now.State == supervised.Init:
		return "keepalived has just begun", netip.Addr{}
	case before.State == "" && now.State != supervised.Fault:
		return "it was so at the first observation", netip.Addr{}
	case !j.observed && before.State != "" && before.Boot != l.Boot:
		return "the host was booted", netip.Addr{}
	case !j.observed && before.State != "":
		return "it changed while it was not observed", netip.Addr{}
	}
	switch now.State {
	case supervised.Master:
		return taken(now, other, l.At), other.By
	case supervised.Init:
		return endedElection(l.Status), netip.Addr{}
	case supervised.Fault:
		if bad := l.Barred[name]; len(bad) > 0 {
			return "failing here: " + strings.Join(bad, ", "), netip.Addr{}
		}
		if bad := j.worse(name, l.Failing); bad != "" {
			return bad, netip.Addr{}
		}
		return "keepalived finds a fault: its link is down, or its address is gone", netip.Addr{}
	case supervised.Backup:
		if before.State == supervised.Master {
			if l.At.Sub(other.At) >= recent {
				other = Announced{} // it is not the reason
			}
			return j.lost(l, name, other), other.By
		}
	}
	return "it stands by", other.By
}

// taken is why this host took a VIP over.
func taken(now supervised.Instance, other Announced, at time.Time) string {
	switch {
	case !other.By.IsValid():
		return "no better router was observed"
	case Releases(other.Priority):
		return fmt.Sprintf("%s released it", other.By)
	case other.Released.IsValid() && at.Sub(other.At) < brief:
		return fmt.Sprintf("%s released it; %s took it at the same time", other.Released, other.By)
	case other.Priority < now.Priority:
		return fmt.Sprintf("it outranks %s, %d to %d", other.By, now.Priority, other.Priority)
	}
	if silence := lapsed(now, other, at); silence > 0 {
		return fmt.Sprintf("no advert of %s was received for %v", other.By, silence)
	}
	return fmt.Sprintf("no better router was observed; %s took it at the same time", other.By)
}

// brief is less than any backup waits: three advert intervals of the fastest timing. If another
// host's advert is more recent than that, both hosts took the VIP over at the same time.
const brief = 200 * time.Millisecond

// recent is the maximum age of an advert that can have ended this host's state MASTER: longer
// than any router waits for one.
const recent = 10 * time.Second

// lapsed is the time since another host's last advert if this host took over for that reason, else
// 0.
func lapsed(now supervised.Instance, other Announced, at time.Time) time.Duration {
	silence := at.Sub(other.At).Round(time.Millisecond)
	if Releases(other.Priority) || other.Priority < now.Priority || silence < brief {
		return 0
	}
	return silence
}

// lost is why this host is no longer the holder, and stands by.
func (j *Journal) lost(l Observation, name string, other Announced) string {
	why := "no advert of another router was received"
	switch {
	case other.By.IsValid():
		why = fmt.Sprintf("%s announces it with priority %d", other.By, other.Priority)
	case j.daemon != daemon{l.Status.PID, l.Status.Restarts}:
		why = "keepalived began anew"
	}
	switch bad := j.worse(name, l.Failing); {
	case l.Status.Leaving != supervised.Stays:
		return "this host was asked to release it; " + why
	case l.Status.MonitorStale:
		return "this host's monitor timed out; " + why
	case bad != "":
		return bad + "; " + why
	}
	return why
}

func endedElection(s supervised.Status) string {
	switch {
	case s.Leaving != supervised.Stays:
		return "this host was asked to release it, and has left"
	case s.PID == 0:
		return "keepalived ended"
	}
	return "keepalived began anew"
}

// worse names the checks that have failed since an instance's state began; empty for none.
func (j *Journal) worse(name string, failing []string) string {
	bad := slices.DeleteFunc(slices.Clone(failing),
		func(check string) bool { return slices.Contains(j.failing[name], check) })
	if len(bad) == 0 {
		return ""
	}
	return "failed here: " + strings.Join(bad, ", ")
}

// Encode writes the journal, at most some 100 kB.
func (j *Journal) Encode() []byte {
	var text []byte
	for _, e := range j.entries {
		line, err := json.Marshal(e)
		if err != nil {
			continue // a year of five digits, which Decode refuses too
		}
		text = append(append(text, line...), '\n')
	}
	return text
}

// Decode reads the text of Encode, of this release or another. Lines that are no entries are left
// out, and the error counts them.
func Decode(text []byte) (*Journal, error) {
	j := &Journal{}
	wrong, first := 0, error(nil)
	for line := range bytes.Lines(text) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var e Entry
		err := json.Unmarshal(line, &e)
		if e.At = e.At.UTC(); err == nil {
			err = e.valid()
		}
		if err == nil {
			j.entries = append(j.entries, e)
		} else if wrong++; first == nil {
			first = err
		}
	}
	j.entries = j.entries[max(0, len(j.entries)-2*most):]
	j.trim()
	if wrong > 0 {
		return j, fmt.Errorf("read journal: %d lines are no entries, the first one: %w", wrong,
			first)
	}
	return j, nil
}

func (e Entry) valid() error {
	switch e.State {
	case supervised.Init, supervised.Backup, supervised.Master, supervised.Fault:
	default:
		if e.Kind == OfElection {
			return fmt.Errorf("the unknown state %q", e.State)
		}
	}
	if err := e.validRouted(); err != nil {
		return err
	}
	if e.Instance == "" || e.At.IsZero() || e.At.Year() > 9999 {
		return errors.New("no instance, or no time")
	}
	return nil
}
