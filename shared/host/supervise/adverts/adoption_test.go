package adverts

import (
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/advert"
	"github.com/onprem-infra/onprem-infra/shared/host/capture"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

func TestElection_Adopts(t *testing.T) {
	unicast := at(instance("one_API_0", "ens3", "192.0.2.11", "192.0.2.5", "192.0.2.12"), vrrp.V3,
		100*time.Millisecond)
	unicast.ID, unicast.Known, unicast.Near = 30, true, true
	e := electionOf(unicast)
	open := e
	open.peers = nil
	multicast := at(instance("g", "ens3", "", "192.0.2.5"), vrrp.V3, 100*time.Millisecond)
	multicast.ID = 30
	group := electionOf(multicast)
	from := func(text string) capture.Delivered {
		return capture.Delivered{Link: "ens3",
			Advert: advert.Advert{From: netip.MustParseAddr(text),
				To: netip.MustParseAddr("192.0.2.11"), ID: 30, Priority: 100,
				Interval: time.Second}}
	}
	with := func(a capture.Delivered,
		change func(*capture.Delivered)) capture.Delivered {
		change(&a)
		return a
	}
	for _, tt := range []struct {
		name string
		e    election
		a    capture.Delivered
		want bool
	}{
		{"a peer", e, from("192.0.2.12"), true},
		{"none of its peers", e, from("192.0.2.13"), false},
		{"any router", open, from("192.0.2.13"), true},
		{"a peer by another link", e, with(from("192.0.2.12"),
			func(a *capture.Delivered) { a.Link = "ens4" }), true},
		{"any router, to the group", open, with(from("192.0.2.13"),
			func(a *capture.Delivered) { a.To = advert.GroupIPv4() }), false},
		{"multicast", group, with(from("192.0.2.13"),
			func(a *capture.Delivered) { a.To = advert.GroupIPv4() }), true},
		{"multicast on another link", group, with(from("192.0.2.13"),
			func(a *capture.Delivered) { a.Link = "ens4" }), false},
		{"the other family", open, from("2001:db8::13"), false},
		{"another router", e, with(from("192.0.2.12"), func(a *capture.Delivered) { a.ID = 31 }),
			false},
		{"a lower priority", e, with(from("192.0.2.12"),
			func(a *capture.Delivered) { a.Priority = 89 }), false},
		{"a release", e, with(from("192.0.2.12"),
			func(a *capture.Delivered) { a.Priority = advert.Release }), false},
		{"its own interval", e, with(from("192.0.2.12"),
			func(a *capture.Delivered) { a.Interval = 100 * time.Millisecond }), false},
	} {
		if got := tt.e.adopts(tt.a, 90); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
	if all := electionsOf([]keepalived.Instance{instance("a", "ens3", "",
		"192.0.2.5")}); len(all) != 0 {
		t.Errorf("version 2 adopts nothing: %v", all)
	}
}

// TestAdoption holds when an adopted interval is undone: one that no profile has at once, whatever
// comes after it; another profile's when its sender does not go on.
func TestAdoption(t *testing.T) {
	begin := time.Now()
	profile := capture.Delivered{Advert: advert.Advert{Interval: vrrp.CompatTiming().Advert}}
	forged := capture.Delivered{Advert: advert.Advert{Interval: 40950 * time.Millisecond}}
	overdue := profile.Interval + vrrp.Grace
	second := begin.Add(time.Second)
	for _, tt := range []struct {
		name string
		is   adoption
		want time.Duration
	}{
		{"another profile's", adoption{}.adopted(profile, begin), overdue},
		{"it goes on", adoption{}.adopted(profile, begin).adopted(profile, second),
			time.Second + overdue},
		{"no profile's", adoption{}.adopted(forged, begin), adopting},
		{"no profile's again", adoption{}.adopted(forged, begin).adopted(forged, second), adopting},
		{"no profile's, covered up", adoption{}.adopted(forged, begin).adopted(profile,
			begin), adopting},
		{"no profile's after another profile's", adoption{}.adopted(profile, begin).adopted(forged,
			begin), adopting},
	} {
		if got := tt.is.undoAt.Sub(begin); got != tt.want {
			t.Errorf("%s: undone after %s, want %s", tt.name, got, tt.want)
		}
	}
}

// receive has an advert arrive and the loop take it.
func receive(a *Adverts, d capture.Delivered, instances map[string]supervised.Instance,
	now time.Time) {
	a.slower.follow(a.elections)
	a.slower.put(d)
	a.Receive(instances, now)
}

// TestUndoAt_NoReports holds that nothing is due while keepalived reports nothing: the supervisor
// would wake up for it at once, again and again.
func TestUndoAt_NoReports(t *testing.T) {
	now := time.Unix(1000, 0)
	a := New(nil, nil)
	a.elections = map[string]election{"one": {id: 30, four: true, advert: 100 * time.Millisecond}}
	forged := capture.Delivered{Advert: advert.Advert{From: netip.MustParseAddr("192.0.2.12"),
		ID: 30, Priority: 255, Interval: 40 * time.Second}}
	receive(a, forged, nil, now)
	if len(a.adoptions) > 0 {
		t.Errorf("it does not run, and is taken to adopt %v", a.adoptions)
	}
	reported := map[string]supervised.Instance{"one": {State: supervised.Backup, Priority: 100}}
	receive(a, forged, reported, now)
	if a.UndoAt(reported).IsZero() {
		t.Error("keepalived runs, and nothing is due")
	}
	if due := a.UndoAt(nil); !due.IsZero() {
		t.Errorf("its VRRP process has ended, and something is due at %v", due)
	}
}

// TestUndo_LateMaster holds that an adoption outlives its time while the instance is MASTER: a
// keepalived that runs late reads the advert, and adopts its interval, only then. It is not kept for
// ever, as a MASTER may have refused the advert.
func TestUndo_LateMaster(t *testing.T) {
	begin := time.Unix(1000, 0)
	forged := capture.Delivered{Advert: advert.Advert{From: netip.MustParseAddr("192.0.2.12"),
		ID: 30, Priority: 254, Interval: 40950 * time.Millisecond}}
	in := func(state supervised.State) map[string]supervised.Instance {
		return map[string]supervised.Instance{"one": {State: state, Priority: 100}}
	}
	for _, tt := range []struct {
		name   string
		again  time.Duration // when the advert comes once more; 0 for never
		backup time.Duration // when keepalived reports BACKUP
		want   bool
	}{
		{"in time", 0, adopting, true},
		{"late", 0, adopting + time.Second, true},
		{"as late as it may be", 0, latest - 1, true},
		{"long after", 0, latest + time.Second, false},
		{"long after, and the advert was repeated", 2 * time.Second, latest + time.Second, true},
	} {
		a := New(slog.New(slog.DiscardHandler), nil)
		a.elections = map[string]election{"one": {id: 30, four: true,
			advert: 100 * time.Millisecond}}
		receive(a, forged, in(supervised.Master), begin)
		for at := 50 * time.Millisecond; at < tt.backup; at += 50 * time.Millisecond {
			if at == tt.again {
				receive(a, forged, in(supervised.Master), begin.Add(at))
			}
			if reload, _ := a.Undo(begin.Add(at), in(supervised.Master)); reload {
				t.Fatalf("%s: a holder is reloaded after %s", tt.name, at)
			}
		}
		if got, _ := a.Undo(begin.Add(tt.backup), in(supervised.Backup)); got != tt.want {
			t.Errorf("%s: undone %t, want %t", tt.name, got, tt.want)
		}
	}
}

// TestUndoAt holds that an adoption which is kept for a MASTER delays that of another instance by
// nothing, and does not keep the loop awake.
func TestUndoAt(t *testing.T) {
	begin := time.Unix(1000, 0)
	a := New(slog.New(slog.DiscardHandler), nil)
	a.elections = map[string]election{
		"api":     {id: 30, four: true, advert: 100 * time.Millisecond},
		"ingress": {id: 31, four: true, advert: 100 * time.Millisecond}}
	instances := map[string]supervised.Instance{
		"api":     {State: supervised.Master, Priority: 100},
		"ingress": {State: supervised.Backup, Priority: 100}}
	forged := capture.Delivered{Advert: advert.Advert{From: netip.MustParseAddr("192.0.2.12"),
		ID: 30, Priority: 100, Interval: 40950 * time.Millisecond}}
	receive(a, forged, instances, begin)
	if at := a.UndoAt(instances); !at.Equal(begin.Add(latest)) {
		t.Errorf("that of a MASTER is undone after %s", at.Sub(begin))
	}
	forged.ID = 31
	receive(a, forged, instances, begin.Add(time.Second))
	if at := a.UndoAt(instances); !at.Equal(begin.Add(time.Second + adopting)) {
		t.Errorf("that of the BACKUP is undone after %s", at.Sub(begin))
	}
}

// TestUndoing holds that reloads become rarer, that more than one is reported, and that a minute
// without any ends both.
func TestUndoing(t *testing.T) {
	var u undoing
	begin := time.Now()
	d := adoption{from: netip.MustParseAddr("198.51.100.2"), link: "ens4", interval: time.Second}
	now := begin
	for i, want := range []time.Duration{1, 1, 2, 4, 8, 10, 10} {
		u = u.reloaded(now, d)
		if got := u.after.Sub(now); got != want*time.Second {
			t.Errorf("pause %d is %s, want %d s", i, got, want)
		}
		if err := u.failing(now); (err != nil) != (i > 0) {
			t.Errorf("after reload %d: %v", i, err)
		}
		now = u.after
	}
	if err := u.failing(u.last.Add(supervised.Steady - 1)); err == nil ||
		!strings.Contains(err.Error(), "198.51.100.2 on link ens4") {
		t.Errorf("a moment before the end: %v", err)
	}
	if err := u.failing(u.last.Add(supervised.Steady)); err != nil {
		t.Errorf("a minute later: %v", err)
	}
	now = u.last.Add(supervised.Steady)
	if u = u.reloaded(now, d); u.after.Sub(now) != undoPause || u.failing(now) != nil {
		t.Errorf("one a minute later: %s, %v", u.after.Sub(now), u.failing(now))
	}
}
