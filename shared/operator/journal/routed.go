package journal

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// SpeakerPath is where a bootstrap machine keeps its journal of what it announces by BGP. Another
// program writes it than the journal of its VRRP groups, which is at Path.
const SpeakerPath = "/var/lib/onprem-infra/speaker/journal.jsonl"

// Kind is what an entry is about.
type Kind string

// The kinds.
const (
	OfElection Kind = ""        // a VRRP instance: it has a State
	OfRoute    Kind = "route"   // a VIP by BGP: it has a Phase
	OfSession  Kind = "session" // a session with a router: it has a Peer, and is Up or not
	OfOthers   Kind = "others"  // which other hosts announce a VIP, as far as routers report it
	OfBFD      Kind = "bfd"     // BFD of a session that is up: it has a Peer, and is Up or not
)

// Announcement is the part of an entry that is about BGP.
type Announcement struct {
	Kind  Kind        `json:"kind,omitempty"`
	Phase speak.Phase `json:"phase,omitempty"` // of the VIP, since then
	Grade int         `json:"grade,omitempty"` // of the path while there is one; 0: the shortest
	Peer  string      `json:"peer,omitempty"`  // the router of a session
	Up    bool        `json:"up,omitempty"`    // the session, since then
	Host  netip.Addr  `json:"host,omitzero"`   // by which routers and other hosts know this one
	// Others are the other hosts that announce the VIP; "" is one that is not of the cluster.
	Others []netip.Addr `json:"others,omitempty"`
}

// sessions is the Instance of entries about sessions, which are of no VIP.
const sessions = "bgp"

// RoutedInstance is the Instance of entries about a VIP that is announced by BGP.
func RoutedInstance(vip netip.Addr) string { return sessions + ":" + vip.String() }

// Announcing is one observation of what a host announces by BGP.
type Announcing struct {
	At      time.Time
	Boot    string
	Status  spoken.Status
	Config  spoken.Config         // the zero value for none
	Leaving bool                  // the host was asked to give all VIPs up
	Why     map[netip.Addr]string // why the monitor does not have the host announce a VIP
}

// routed is the memory of what a host announces.
type routed struct {
	observed bool
	flaps    map[string]int // of sessions
}

// NoteAnnouncing applies an observation, and returns the entries that it has added. A speaker
// without any status does not count as a change.
func (j *Journal) NoteAnnouncing(l Announcing) (added []Entry) {
	if l.Status.At.IsZero() {
		return nil
	}
	before := len(j.entries)
	for _, v := range l.Status.VIPs {
		j.notePhase(l, v)
		j.noteOthers(l, v)
	}
	if j.routed.flaps == nil {
		j.routed.flaps = map[string]int{}
	}
	for _, s := range l.Status.Sessions {
		j.noteSession(l, s)
		j.noteBFD(l, s)
		j.routed.flaps[s.Peer] = s.Flaps
	}
	j.routed.observed = true
	added = slices.Clone(j.entries[before:])
	j.trim()
	return added
}

// add completes an entry with the fields that all have, and appends it.
func (j *Journal) add(l Announcing, e Entry) {
	e.Boot, e.Host = l.Boot, l.Config.Router
	if e.At.IsZero() {
		e.At = l.At
	}
	e.At = e.At.UTC().Truncate(time.Millisecond)
	j.entries = append(j.entries, e)
}

func (j *Journal) notePhase(l Announcing, v spoken.VIP) {
	e := Entry{Instance: RoutedInstance(v.VIP), VIP: v.VIP,
		Announcement: Announcement{Kind: OfRoute, Phase: v.Phase}}
	before := j.newest(e)
	if announced(v.Phase) {
		e.Grade = int(v.Grade)
	}
	rebooted := !j.routed.observed && before.Boot != l.Boot
	regraded := v.Phase == speak.Announced && before.Grade != e.Grade
	if before.Phase == v.Phase && !rebooted && !regraded {
		return
	}
	e.Late = !j.routed.observed && before.Phase != ""
	switch {
	case before.Phase == "":
		e.Why = "it was so at the first observation"
		if v.Phase == speak.Idle {
			e.Why = idle(l, v)
		}
	case e.Late && before.Boot != l.Boot:
		e.Why = "the host was booted"
	case e.Late:
		e.Why = "it changed while it was not observed"
	default:
		e.Why = whyPhase(before, l, v)
		if v.Since.After(before.At) && v.Since.Before(l.At) && v.Phase != before.Phase {
			e.At = v.Since // the speaker's own time
		}
	}
	j.add(l, e)
}

// announced reports whether routers have a VIP in a phase.
func announced(p speak.Phase) bool { return p == speak.Announced || p == speak.Demoted }

// whyPhase is the reason of a change of a VIP's phase.
func whyPhase(before Entry, l Announcing, v spoken.VIP) string {
	switch v.Phase {
	case speak.Announced:
		switch before.Phase {
		case speak.Announced:
			return fmt.Sprintf("its grade is %d instead of %d", v.Grade, before.Grade)
		case speak.Demoted:
			if before.Why == died {
				return fmt.Sprintf("this host has a monitor again; its grade is %d", v.Grade)
			}
			return fmt.Sprintf("this host no longer releases it; its grade is %d", v.Grade)
		}
		return fmt.Sprintf("this host serves it, and has sessions with %s; its grade is %d",
			up(l.Status), v.Grade)
	case speak.Waiting:
		switch {
		case before.Phase == speak.Announced:
			return "no router has it any more: " + lastReset(l.Status)
		case up(l.Status) == "":
			return "this host serves it, and has no session with a router"
		}
		return "this host serves it, and waits until a session has lasted, or after a withdrawal"
	case speak.Demoted:
		return demoted(l, v)
	case speak.Withdrawn:
		switch {
		case before.Phase != speak.Demoted:
			return unserved(l, v)
		case len(v.Others) > 0:
			return "this host releases it, and routers know another one"
		}
		return "this host releases it, and no router has reported another one in time"
	}
	if announced(before.Phase) {
		return "the speaker began anew"
	}
	return idle(l, v)
}

// demoted is why a host makes its path longer than all others before it withdraws a VIP.
func demoted(l Announcing, v spoken.VIP) string {
	switch {
	case l.Leaving:
		return "this host was asked to release it"
	case !slices.Contains(l.Config.VIPs, v.VIP):
		return "it is no VIP of the cluster any more"
	case l.Status.Monitor == spoken.Died:
		return died
	case l.Why[v.VIP] != "":
		return l.Why[v.VIP]
	}
	return "this host's monitor timed out"
}

// died is why a host is demoted although it still serves.
const died = "this host's monitor was killed"

func idle(l Announcing, v spoken.VIP) string {
	switch {
	case l.Leaving:
		return "this host was asked to release it, and has left"
	case !slices.Contains(l.Config.VIPs, v.VIP):
		return "it is no VIP of the cluster any more"
	}
	return unserved(l, v)
}

func unserved(l Announcing, v spoken.VIP) string {
	if why := l.Why[v.VIP]; why != "" {
		return why
	}
	return "this host does not serve it"
}

// up names the routers with a session; empty for none.
func up(s spoken.Status) string {
	var names []string
	for _, one := range s.Sessions {
		if !one.Since.IsZero() {
			names = append(names, one.Peer)
		}
	}
	return strings.Join(names, ", ")
}

// lastReset is what ended the sessions that are down, by router.
func lastReset(s spoken.Status) string {
	var all []string
	for _, one := range s.Sessions {
		if one.Since.IsZero() {
			all = append(all, one.Peer+": "+ended(one))
		}
	}
	if len(all) == 0 {
		return "sessions began anew"
	}
	return strings.Join(all, "; ")
}

func (j *Journal) noteSession(l Announcing, s spoken.Session) {
	e := Entry{Instance: sessions,
		Announcement: Announcement{Kind: OfSession, Peer: s.Peer, Up: !s.Since.IsZero()}}
	before := j.newest(e)
	known, flaps := before.Peer != "", j.routed.flaps[s.Peer]
	switch {
	case !known && !e.Up:
		return // it is still to begin for the first time
	case !known, before.Up != e.Up:
	case e.Up && j.routed.observed && s.Flaps > flaps:
	default:
		return
	}
	e.Late = known && !j.routed.observed
	switch {
	case e.Late && before.Boot != l.Boot:
		e.Why = "the host was booted"
	case !e.Up:
		e.Why = ended(s)
	case before.Up:
		e.Why = "the session ended, and another one began"
	default:
		e.Why = "the session began"
	}
	j.add(l, e)
}

// rises is the time within which BFD comes up if both sides run it.
const rises = 15 * time.Second

// noteBFD records that BFD is not up though its session is, and the end of that state. If BFD
// ends a session, the session's own entry has that reason.
func (j *Journal) noteBFD(l Announcing, s spoken.Session) {
	e := Entry{Instance: sessions,
		Announcement: Announcement{Kind: OfBFD, Peer: s.Peer, Up: s.BFD == "Up"}}
	before := j.newest(e)
	known := before.Peer != ""
	switch lost := known && !before.Up; {
	case s.Since.IsZero():
		return
	case lost && s.BFD == "":
		e.Up, e.Why = true, "the session does without it"
	case lost && e.Up:
		e.Why = "it is up"
	case !lost && !e.Up && s.BFD != "" && l.At.Sub(s.Since) >= rises:
		e.Why = fmt.Sprintf("it is %s: the router finds out late that this host is gone", s.BFD)
	default:
		return
	}
	e.Late = known && !j.routed.observed
	j.add(l, e)
}

// ended is what ended a session.
func ended(s spoken.Session) string {
	if s.Why == "" {
		return "the session ended"
	}
	return s.Why
}

// noteOthers notes which other hosts announce a VIP. Hosts outside the cluster are zero values.
func (j *Journal) noteOthers(l Announcing, v spoken.VIP) {
	e := Entry{Instance: RoutedInstance(v.VIP), VIP: v.VIP,
		Announcement: Announcement{Kind: OfOthers}}
	for _, o := range v.Others {
		e.Others = append(e.Others, o.Announcer)
	}
	slices.SortFunc(e.Others, netip.Addr.Compare)
	e.Others = slices.Compact(e.Others)
	before := j.newest(e)
	if slices.Equal(before.Others, e.Others) {
		return
	}
	e.Late = before.Kind == OfOthers && !j.routed.observed
	var names []string
	for _, a := range e.Others {
		name := a.String()
		if !a.IsValid() {
			name = "a host that is not of this cluster"
		}
		names = append(names, name)
	}
	e.Why = "no router reports another host"
	if len(names) > 0 {
		e.Why = "routers report " + strings.Join(names, ", ")
	}
	j.add(l, e)
}

func (e Entry) validRouted() error {
	phases := []speak.Phase{speak.Idle, speak.Waiting, speak.Announced, speak.Demoted,
		speak.Withdrawn}
	switch {
	case e.Kind == OfElection:
	case e.Kind == OfRoute && !slices.Contains(phases, e.Phase):
		return fmt.Errorf("the unknown phase %q", e.Phase)
	case (e.Kind == OfSession || e.Kind == OfBFD) && e.Peer == "":
		return errors.New("a session with no router")
	case e.Kind == OfRoute, e.Kind == OfSession, e.Kind == OfOthers, e.Kind == OfBFD:
	default:
		return fmt.Errorf("the unknown kind %q", e.Kind)
	}
	return nil
}
