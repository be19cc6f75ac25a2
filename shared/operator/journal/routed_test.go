package journal

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

var (
	vip  = netip.MustParseAddr("198.51.100.5")
	self = netip.MustParseAddr("10.1.1.11")
)

// announcing is an observation of a host with two routers, n seconds after the beginning.
func announcing(n int, phase speak.Phase, change func(*Announcing)) Announcing {
	at := begin.Add(time.Duration(n) * time.Second)
	l := Announcing{At: at, Boot: "first", Config: spoken.Config{Router: self, VIPs: []netip.Addr{vip}},
		Status: spoken.Status{At: at, VIPs: []spoken.VIP{{VIP: vip, Phase: phase, Grade: 4}},
			Sessions: []spoken.Session{{Peer: "10.1.1.1", Since: begin}, {Peer: "10.1.1.2", Since: begin}}}}
	if change != nil {
		change(&l)
	}
	return l
}

func down(why string) func(*Announcing) {
	return func(l *Announcing) {
		for i := range l.Status.Sessions {
			l.Status.Sessions[i].Since, l.Status.Sessions[i].Why = time.Time{}, why
		}
	}
}

// TestNoteAnnouncing holds what is noted of VIPs, sessions and other announcers, and the reasons.
func TestNoteAnnouncing(t *testing.T) {
	const i, w, a, d, x = speak.Idle, speak.Waiting, speak.Announced, speak.Demoted, speak.Withdrawn
	leaving := func(l *Announcing) { l.Leaving = true }
	bfd := func(state string) func(*Announcing) {
		return func(l *Announcing) { l.Status.Sessions[0].BFD = state }
	}
	others := func(all ...netip.Addr) func(*Announcing) {
		return func(l *Announcing) {
			for _, one := range all {
				l.Status.VIPs[0].Others = append(l.Status.VIPs[0].Others, spoken.Other{Session: "10.1.1.1", Announcer: one}, spoken.Other{Session: "10.1.1.2", Announcer: one})
			}
		}
	}
	for _, tt := range []struct {
		name         string
		observations []Announcing
		want         []string // of all after the first observation
	}{
		{"nothing changes", []Announcing{announcing(0, a, nil), announcing(1, a, nil)}, nil},
		{"a start", []Announcing{announcing(0, i, func(l *Announcing) { down("")(l); l.Why = map[netip.Addr]string{vip: "not open yet"} }), announcing(1, w, down("")), announcing(2, a, nil)},
			[]string{"waiting this host serves it, and has no session with a router", "announced this host serves it, and has sessions with 10.1.1.1, 10.1.1.2; its grade is 4 grade 4",
				"10.1.1.1 true the session began", "10.1.1.2 true the session began"}},
		{"a worse grade", []Announcing{announcing(0, a, nil), announcing(1, a, func(l *Announcing) { l.Status.VIPs[0].Grade = 5 })}, []string{"announced its grade is 5 instead of 4 grade 5"}},
		{"a health that fails", []Announcing{announcing(0, a, nil), announcing(1, x, func(l *Announcing) { l.Why = map[netip.Addr]string{vip: "neither serves"} }), announcing(3, i, nil), announcing(4, w, nil)},
			[]string{"withdrawn neither serves", "idle this host does not serve it", "waiting this host serves it, and waits until a session has lasted, or after a withdrawal"}},
		{"all sessions end", []Announcing{announcing(0, a, nil), announcing(1, w, down("BFD down")), announcing(9, a, nil)},
			[]string{"waiting no router has it any more: 10.1.1.1: BFD down; 10.1.1.2: BFD down", "10.1.1.1 false BFD down", "10.1.1.2 false BFD down",
				"announced this host serves it, and has sessions with 10.1.1.1, 10.1.1.2; its grade is 4 grade 4", "10.1.1.1 true the session began", "10.1.1.2 true the session began"}},
		{"a session between two observations", []Announcing{announcing(0, a, nil), announcing(5, a, func(l *Announcing) { l.Status.Sessions[1].Flaps = 1 })}, []string{"10.1.1.2 true the session ended, and another one began"}},
		{"it leaves, and another one is there", []Announcing{announcing(0, a, nil), announcing(1, d, func(l *Announcing) { leaving(l); l.Status.VIPs[0].Grade = 8 }),
			announcing(2, x, func(l *Announcing) { leaving(l); others(netip.MustParseAddr("10.1.2.12"), netip.Addr{})(l) }), announcing(3, i, leaving)},
			[]string{"demoted this host was asked to release it grade 8", "withdrawn this host releases it, and routers know another one",
				"[invalid IP 10.1.2.12] routers report a host that is not of this cluster, 10.1.2.12", "idle this host was asked to release it, and has left", "[] no router reports another host"}},
		{"it leaves, and no other one is seen", []Announcing{announcing(0, d, nil), announcing(1, x, nil)}, []string{"withdrawn this host releases it, and no router has reported another one in time"}},
		{"it stays after all", []Announcing{announcing(0, d, nil), announcing(1, a, nil)}, []string{"announced this host no longer releases it; its grade is 4 grade 4"}},
		{"its monitor is silent", []Announcing{announcing(0, a, nil), announcing(1, d, nil)}, []string{"demoted this host's monitor timed out grade 4"}},
		{"its monitor dies, and another one follows", []Announcing{announcing(0, a, nil), announcing(1, d, func(l *Announcing) { l.Status.Monitor = spoken.Died }), announcing(2, a, nil)},
			[]string{"demoted this host's monitor was killed grade 4", "announced this host has a monitor again; its grade is 4 grade 4"}},
		{"BFD comes up late", []Announcing{announcing(0, a, bfd("Down")), announcing(14, a, bfd("Down")), announcing(15, a, bfd("Down")), announcing(16, a, bfd("Down")), announcing(17, a, bfd("Up")), announcing(18, a, bfd("Up"))},
			[]string{"BFD 10.1.1.1 false it is Down: the router finds out late that this host is gone", "BFD 10.1.1.1 true it is up"}},
		{"BFD is given up", []Announcing{announcing(0, a, nil), announcing(99, a, bfd("Down")), announcing(100, a, nil), announcing(101, a, nil)},
			[]string{"BFD 10.1.1.1 false it is Down: the router finds out late that this host is gone", "BFD 10.1.1.1 true the session does without it"}},
		{"a session ends by BFD", []Announcing{announcing(0, a, bfd("Up")), announcing(99, a, func(l *Announcing) {
			bfd("Down")(l)
			l.Status.Sessions[0].Since, l.Status.Sessions[0].Why = time.Time{}, "BFD down"
		})}, []string{"10.1.1.1 false BFD down"}},
		{"VIPs are kept away from it", []Announcing{announcing(0, a, nil), announcing(1, d, func(l *Announcing) { l.Why = map[netip.Addr]string{vip: "a label"} })}, []string{"demoted a label grade 4"}},
		{"the cluster has it no longer", []Announcing{announcing(0, a, nil), announcing(1, d, func(l *Announcing) { l.Config.VIPs = nil }), announcing(2, i, func(l *Announcing) { l.Config.VIPs = nil })},
			[]string{"demoted it is no VIP of the cluster any more grade 4", "idle the speaker began anew"}},
		{"the speaker was killed", []Announcing{announcing(0, a, nil), announcing(1, i, down(""))}, []string{"idle the speaker began anew", "10.1.1.1 false the session ended", "10.1.1.2 false the session ended"}},
		{"the speaker reports nothing", []Announcing{announcing(0, a, nil), {At: begin.Add(time.Second), Boot: "first"}, announcing(2, a, nil)}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var j Journal
			var got []string
			for n, l := range tt.observations {
				for _, e := range j.NoteAnnouncing(l) {
					text := ""
					switch e.Kind {
					case OfRoute:
						if text = fmt.Sprintf("%s %s", e.Phase, e.Why); e.Grade > 0 {
							text += fmt.Sprintf(" grade %d", e.Grade)
						}
					case OfSession:
						text = fmt.Sprintf("%s %t %s", e.Peer, e.Up, e.Why)
					case OfBFD:
						text = fmt.Sprintf("BFD %s %t %s", e.Peer, e.Up, e.Why)
					default:
						text = fmt.Sprintf("%v %s", e.Others, e.Why)
					}
					if n > 0 {
						got = append(got, text)
					}
					if e.Late || e.Boot != "first" || e.Host != self || e.State != "" {
						t.Errorf("%+v", e)
					}
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("wrote %q\nwant  %q", got, tt.want)
			}
			again, err := Decode(j.Encode())
			if err != nil || !reflect.DeepEqual(again.Entries(), j.Entries()) {
				t.Errorf("%v: read again:\n%+v\n%+v", err, again.Entries(), j.Entries())
			}
		})
	}
}

// TestNoteAnnouncing_Times holds that a change has the speaker's time, if it is of that change.
func TestNoteAnnouncing_Times(t *testing.T) {
	var j Journal
	since := func(s int) func(*Announcing) {
		return func(l *Announcing) { l.Status.VIPs[0].Since = begin.Add(time.Duration(s) * 100 * time.Millisecond) }
	}
	j.NoteAnnouncing(announcing(0, speak.Announced, since(-99)))
	j.NoteAnnouncing(announcing(1, speak.Withdrawn, since(7)))
	j.NoteAnnouncing(announcing(2, speak.Idle, since(7))) // of the former one
	j.NoteAnnouncing(announcing(3, speak.Waiting, since(99)))
	var got []string
	for _, e := range j.Entries() {
		if e.Kind == OfRoute {
			got = append(got, e.At.Sub(begin).String())
		}
	}
	if want := "0s 700ms 2s 3s"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// TestNoteAnnouncing_Restart holds that a later run continues the journal, and names what it has not
// observed.
func TestNoteAnnouncing_Restart(t *testing.T) {
	for _, tt := range []struct {
		name, boot string
		phase      speak.Phase
		want       string
	}{
		{"nothing has changed", "first", speak.Announced, ""},
		{"it was withdrawn meanwhile", "first", speak.Idle, "idle it changed while it was not observed true"},
		{"the host was booted, and has it again", "second", speak.Announced, "announced the host was booted true"},
	} {
		var before Journal
		before.Note(observed(0, "MASTER", 100, nil))
		before.NoteAnnouncing(announcing(0, speak.Announced, nil))
		j, err := Decode(before.Encode())
		if err != nil {
			t.Fatal(err)
		}
		j.NoteAnnouncing(Announcing{At: begin, Boot: tt.boot})
		for n := range 2 {
			j.NoteAnnouncing(announcing(9+n, tt.phase, func(l *Announcing) { l.Boot = tt.boot }))
		}
		got := ""
		for _, e := range j.Entries()[len(before.Entries()):] {
			if e.Kind == OfRoute {
				got += fmt.Sprintf("%s %s %t", e.Phase, e.Why, e.Late)
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if e := j.last(api); e.State != "MASTER" {
			t.Errorf("the instance's state is %+v", e)
		}
	}
}

// TestNoteAnnouncing_Bounded holds that a session and a VIP that never rest do not push out what
// else there is, nor when another session began.
func TestNoteAnnouncing_Bounded(t *testing.T) {
	var j Journal
	j.Note(observed(0, "MASTER", 100, nil))
	for n := range 5000 {
		j.NoteAnnouncing(announcing(n, speak.Announced, func(l *Announcing) {
			l.Status.Sessions[1].Flaps = n
			l.Status.VIPs[0].Grade = bgp.Grade(n % 2)
		}))
	}
	all := j.Entries()
	if len(all) != most || all[0].State != "MASTER" || all[1].Peer != "10.1.1.1" || len(j.Encode()) > 128<<10 {
		t.Errorf("%d entries, %d bytes, from %+v, %+v", len(all), len(j.Encode()), all[0], all[1])
	}
	sessions := 0
	for _, e := range all {
		if e.Kind == OfSession {
			sessions++
		}
	}
	if sessions != mostClashes+1 {
		t.Errorf("%d entries of sessions", sessions)
	}
}

// TestDecode_Announcing holds which entries of what is announced are read.
func TestDecode_Announcing(t *testing.T) {
	for text, wrong := range map[string]string{
		`"kind":"route","instance":"bgp:198.51.100.5","phase":"announced"`: "",
		`"kind":"session","instance":"bgp","peer":"10.1.1.1","up":true`:    "",
		`"kind":"others","instance":"bgp:x","others":["","10.1.1.1"]`:      "",
		`"kind":"route","instance":"bgp:x","phase":"sings"`:                "the unknown phase",
		`"kind":"session","instance":"bgp"`:                                "no router",
		`"kind":"bfd","instance":"bgp"`:                                    "no router",
		`"kind":"bfd","instance":"bgp","peer":"10.1.1.1"`:                  "",
		`"kind":"opera","instance":"bgp"`:                                  "the unknown kind",
		`"instance":"bgp"`:                                                 "the unknown state",
	} {
		j, err := Decode([]byte(`{"at":"2026-01-02T03:04:05Z",` + text + "}\n"))
		if (err == nil) != (wrong == "") || err != nil && !strings.Contains(err.Error(), wrong) || (len(j.Entries()) == 1) != (wrong == "") {
			t.Errorf("%s: %+v, %v", text, j.Entries(), err)
		}
	}
}
