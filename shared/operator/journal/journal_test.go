package journal

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

var begin = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

const api = "one_API_0"

// observed is an observation at the API's instance, n seconds after the beginning.
func observed(n int, state supervised.State, priority int, change func(*Observation)) Observation {
	l := Observation{
		At:   begin.Add(time.Duration(n) * time.Second),
		Boot: "first",
		VIPs: map[string]netip.Addr{api: netip.MustParseAddr("192.0.2.5")},
		Status: supervised.Status{
			PID:       7,
			Instances: map[string]supervised.Instance{api: {State: state, Priority: priority}},
		},
	}
	if change != nil {
		change(&l)
	}
	return l
}

func receives(by string, priority int) func(*Observation) {
	return func(l *Observation) {
		l.Announced = map[string]Announced{
			api: {By: netip.MustParseAddr(by), Priority: priority, At: l.At.Add(-3600 * time.Millisecond)},
		}
	}
}

func fails(checks ...string) func(*Observation) { return func(l *Observation) { l.Failing = checks } }

func both(a, b func(*Observation)) func(*Observation) { return func(l *Observation) { a(l); b(l) } }

func TestNote(t *testing.T) {
	const b, m, f, i = supervised.Backup, supervised.Master, supervised.Fault, supervised.Init
	for _, tt := range []struct {
		name         string
		observations []Observation
		want         []string // of all but the first: state, reason, other
	}{
		{"nothing changes", []Observation{observed(0, b, 100, nil), observed(1, b, 120, nil)}, nil},
		{"no advert was received", []Observation{observed(0, b, 100, nil), observed(1, m, 100, nil)}, []string{"MASTER no better router was observed"}},
		{"the holder released it", []Observation{observed(0, b, 100, nil), observed(1, m, 100, receives("192.0.2.12", 0))}, []string{"MASTER 192.0.2.12 released it @192.0.2.12"}},
		{"the holder timed out", []Observation{observed(0, b, 100, nil), observed(1, m, 100, receives("192.0.2.12", 100))}, []string{"MASTER no advert of 192.0.2.12 was received for 3.6s @192.0.2.12"}},
		{"another takes it too", []Observation{observed(0, b, 100, nil), observed(1, m, 100, both(receives("192.0.2.12", 100), func(l *Observation) {
			a := l.Announced[api]
			a.At = l.At.Add(-5 * time.Millisecond)
			l.Announced[api] = a
		}))}, []string{"MASTER no better router was observed; 192.0.2.12 took it at " +
			"the same time @192.0.2.12"}},
		{"the holder released it, and another takes it too", []Observation{observed(0, b, 100, nil), observed(1, m, 100, both(receives("192.0.2.12", 100), func(l *Observation) {
			a := l.Announced[api]
			a.At, a.Released = l.At.Add(-5*time.Millisecond), netip.MustParseAddr("192.0.2.13")
			l.Announced[api] = a
		}))}, []string{"MASTER 192.0.2.13 released it; 192.0.2.12 took it at the same time @192.0.2.12"}},
		{"the holder timed out soon after it took over", []Observation{observed(0, b, 100, nil), observed(1, m, 100, both(receives("192.0.2.12", 100), func(l *Observation) {
			a := l.Announced[api]
			a.Released = netip.MustParseAddr("192.0.2.13")
			l.Announced[api] = a
		}))}, []string{"MASTER no advert of 192.0.2.12 was received for 3.6s @192.0.2.12"}},
		{"the holder was demoted below all", []Observation{observed(0, b, 100, nil), observed(1, m, 100, receives("192.0.2.12", 1))}, []string{"MASTER 192.0.2.12 released it @192.0.2.12"}},
		{"the holder was demoted", []Observation{observed(0, b, 100, nil), observed(1, m, 100, receives("192.0.2.12", 60))}, []string{"MASTER it outranks 192.0.2.12, 100 to 60 @192.0.2.12"}},
		{"another is better", []Observation{observed(0, m, 100, fails("lb")), observed(1, b, 100, both(fails("lb"), receives("192.0.2.12", 130)))}, []string{"BACKUP 192.0.2.12 announces it with priority 130 @192.0.2.12"}},
		{"keepalived was killed together with its supervisor, and there is no other host", []Observation{observed(0, m, 100, nil), observed(1, b, 100, func(l *Observation) { l.Status.PID++ })},
			[]string{"BACKUP keepalived began anew"}},
		{"an advert was received long ago", []Observation{observed(0, m, 100, nil), observed(60, b, 100, both(receives("192.0.2.12", 130), func(l *Observation) {
			a := l.Announced[api]
			a.At = l.At.Add(-time.Minute)
			l.Announced[api] = a
		}))}, []string{"BACKUP no advert of another router was received"}},
		{"no advert is received", []Observation{observed(0, m, 100, nil), observed(1, b, 100, nil)}, []string{"BACKUP no advert of another router was received"}},
		{"a check failed", []Observation{observed(0, m, 100, fails("mcs")), observed(1, m, 80, fails("mcs", "lb", "api")), observed(2, b, 70, fails("mcs", "lb", "api"))},
			[]string{"BACKUP failed here: lb, api; no advert of another router was received"}},
		{"it was asked to", []Observation{observed(0, m, 100, nil), observed(1, b, 1, func(l *Observation) { l.Status.Leaving = supervised.Asked })},
			[]string{"BACKUP this host was asked to release it; no advert of another router was " +
				"received"}},
		{"its monitor timed out", []Observation{observed(0, m, 100, nil), observed(1, b, 1, func(l *Observation) { l.Status.MonitorStale = true })},
			[]string{"BACKUP this host's monitor timed out; no advert of another router was " +
				"received"}},
		{"it left", []Observation{observed(0, m, 100, nil), observed(1, i, 1, func(l *Observation) { l.Status.Leaving = supervised.Left })}, []string{"INIT this host was asked to release it, and has left"}},
		{"keepalived ended", []Observation{observed(0, m, 100, nil), observed(1, i, 1, func(l *Observation) { l.Status.PID = 0 })}, []string{"INIT keepalived ended"}},
		{"keepalived began anew", []Observation{observed(0, m, 100, nil), observed(1, i, 0, nil), observed(2, b, 100, nil)}, []string{"INIT keepalived began anew", "BACKUP it stands by"}},
		{"a fault of a check", []Observation{observed(0, m, 100, nil), observed(1, f, 100, fails("ingress"))}, []string{"FAULT failed here: ingress"}},
		{"a fault of the link", []Observation{observed(0, m, 100, nil), observed(1, f, 100, nil)}, []string{"FAULT keepalived finds a fault: its link is down, or its address is gone"}},
		{"what keeps it out has failed before", []Observation{observed(0, i, 100, fails("ingress", "mcs")), observed(1, f, 100, both(fails("ingress", "mcs"), func(l *Observation) {
			l.Barred = map[string][]string{api: {"ingress"}}
		}))}, []string{"FAULT failing here: ingress"}},
		{"the supervisor reports nothing", []Observation{observed(0, m, 100, nil), {At: begin.Add(time.Second), Boot: "first"}, observed(2, m, 100, nil)}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var j Journal
			for n, l := range tt.observations {
				before := len(j.entries)
				if added := j.Note(l); !reflect.DeepEqual(added,
					append([]Entry(nil), j.entries[before:]...)) {
					t.Errorf("observation %d: added %+v", n, added)
				}
			}
			var got []string
			for _, e := range j.Entries()[1:] {
				text := fmt.Sprintf("%s %s", e.State, e.Why)
				if e.Other.IsValid() {
					text += " @" + e.Other.String()
				}
				if got = append(got, text); e.Late || e.Boot != "first" ||
					e.VIP.String() != "192.0.2.5" ||
					e.Instance != api {
					t.Errorf("entry %+v", e)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("wrote %q\nwant  %q", got, tt.want)
			}
		})
	}
}

// TestRestart holds that a later run continues the journal of an earlier one, and names changes
// that it did not observe.
func TestRestart(t *testing.T) {
	for _, tt := range []struct {
		name, boot string
		state      supervised.State
		want       string
	}{
		{"nothing has changed", "first", supervised.Master, ""},
		{"it was lost meanwhile", "first", supervised.Backup, "BACKUP it changed while it was " +
			"not observed late"},
		{"the host was booted", "second", supervised.Backup, "BACKUP the host was booted late"},
		{"the host was booted and has it again", "second", supervised.Master, "MASTER the host " +
			"was booted late"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var before Journal
			before.Note(observed(0, supervised.Master, 100, nil))
			j, err := Decode(before.Encode())
			if err != nil {
				t.Fatal(err)
			}
			j.Note(Observation{At: begin, Boot: tt.boot}) // the supervisor has not spoken yet
			j.Note(observed(9, tt.state, 100, func(l *Observation) { l.Boot = tt.boot }))
			j.Note(observed(10, tt.state, 100, func(l *Observation) { l.Boot = tt.boot }))
			got := ""
			if all := j.Entries(); len(all) == 2 {
				got = fmt.Sprintf("%s %s", all[1].State, all[1].Why)
				if all[1].Late {
					got += " late"
				}
			} else if len(all) != 1 {
				t.Fatalf("wrote %+v", all)
			}
			if got != tt.want {
				t.Errorf("wrote %q, want %q", got, tt.want)
			}
		})
	}
}

// TestRestartBlames holds that a check which failed already when the monitor began is not blamed
// for what comes later.
func TestRestartBlames(t *testing.T) {
	var before Journal
	before.Note(observed(0, supervised.Master, 100, nil))
	j, err := Decode(before.Encode())
	if err != nil {
		t.Fatal(err)
	}
	j.Note(observed(1, supervised.Master, 80, fails("mcs")))
	added := j.Note(observed(2, supervised.Backup, 70, fails("mcs", "lb")))
	if want := "failed here: lb; no advert of another router was received"; len(added) != 1 ||
		added[0].Why != want {
		t.Errorf("wrote %+v, want %q", added, want)
	}
}

// TestBounded holds that a VIP that never rests fills nothing, and does not push out since when the
// others are as they are.
func TestBounded(t *testing.T) {
	var j Journal
	calm := supervised.Instance{State: supervised.Master, Priority: 9}
	for n := range 5000 {
		state := []supervised.State{supervised.Master, supervised.Backup}[n%2]
		j.Note(observed(n, state, 100, func(l *Observation) { l.Status.Instances["one_INGRESS_0"] = calm }))
	}
	all, text := j.Entries(), j.Encode()
	if len(all) != most || len(text) > 128<<10 || all[0].Instance != "one_INGRESS_0" ||
		!all[0].At.Equal(begin) ||
		!all[most-1].At.Equal(begin.Add(4999*time.Second)) {
		t.Errorf("%d entries, %d bytes, from %+v to %+v", len(all), len(text), all[0],
			all[len(all)-1])
	}
	again, err := Decode(text)
	if err != nil || !reflect.DeepEqual(again.Entries(), all) {
		t.Errorf("%v: what was written is not what is read", err)
	}
}

// TestDisturbed holds that a clash is recorded beside the changes of the VIP, does not change
// those, and cannot push them out.
func TestDisturbed(t *testing.T) {
	var j Journal
	j.Note(observed(0, supervised.Backup, 100, nil))
	j.Note(observed(1, supervised.Master, 100, nil))
	clash := Entry{
		At:       begin.Add(2 * time.Second),
		Instance: "one_API_0",
		VIP:      netip.MustParseAddr("192.0.2.5"),
		Why:      "another router has the ID",
		Other:    netip.MustParseAddr("192.0.2.99"),
		Boot:     "first",
		Clash:    "foreign-router",
	}
	got := j.Disturbed(clash)
	want := clash
	want.State, want.Priority = supervised.Master, 100
	if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(j.Entries()[2], want) {
		t.Errorf("wrote %+v", got)
	}
	if added := j.Note(observed(3, supervised.Master, 100, nil)); len(added) > 0 {
		t.Errorf("a clash is taken for a change: %+v", added)
	}
	if got := (&Journal{}).Disturbed(clash); got.State != supervised.Init {
		t.Errorf("before anything is known: %+v", got)
	}
	for n := range 5000 {
		clash.At = begin.Add(time.Duration(n) * time.Minute)
		j.Disturbed(clash)
	}
	again, err := Decode(j.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if all := again.Entries(); len(all) != 2+mostClashes || !all[len(all)-1].At.Equal(clash.At) {
		t.Errorf("%d entries, from %+v to %+v", len(all), all[0], all[len(all)-1])
	}
	if e := again.last(clash.Instance); e.State != supervised.Master ||
		!e.At.Equal(begin.Add(time.Second)) {
		t.Errorf("the newest change is %+v", e)
	}
}

func TestDecode(t *testing.T) {
	const good = `{"at":"2026-01-02T03:04:05.678Z","instance":"one_API_0","vip":"192.0.2.5","state":"MASTER","priority":170,"why":"x","other":"192.0.2.12","boot":"b","later":1}` + "\n"
	for _, tt := range []struct {
		name, text string
		entries    int
		wrong      string
	}{
		{"nothing", "", 0, ""},
		{"a field of a later release", good + "\n" + good, 2, ""},
		{"a line that is cut", good + good[:40], 1, "1 lines are no entries"},
		{"no state that there is", good + strings.Replace(good, "MASTER", "KING", 1), 1, `the unknown state "KING"`},
		{"no instance", strings.Replace(good, "one_API_0", "", 1), 0, "no instance"},
		{"no time", strings.Replace(good, "2026-01-02T03:04:05.678Z", "0001-01-01T00:00:00Z", 1), 0, "no time"},
		{"something else", "\x00\xff", 0, "1 lines"},
	} {
		j, err := Decode([]byte(tt.text))
		if len(j.Entries()) != tt.entries || (err == nil) != (tt.wrong == "") ||
			err != nil && !strings.Contains(err.Error(), tt.wrong) {
			t.Errorf("%s: %d entries, %v", tt.name, len(j.Entries()), err)
		}
	}
}

// FuzzDecode holds that whatever stands in the file, what is read of it is written and read as the
// same.
func FuzzDecode(f *testing.F) {
	var j Journal
	j.Note(observed(0, supervised.Master, 100, receives("2001:db8::1", 1)))
	f.Add(j.Encode())
	f.Add([]byte("{}\nnull\n[]\n{\"at\":\"9999-12-31T23:59:60Z\"}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		j, _ := Decode(text)
		all := j.Entries()
		again, err := Decode(j.Encode())
		if err != nil || len(all) > most || len(all) != len(again.Entries()) {
			t.Fatalf("%d entries, read again: %d, %v", len(all), len(again.Entries()), err)
		}
	})
}
