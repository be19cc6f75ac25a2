package announcing_test

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/operator/announcing"
	"github.com/onprem-infra/onprem-infra/shared/plan/routed"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

var (
	api     = netip.MustParseAddr("198.51.100.5")
	ingress = netip.MustParseAddr("198.51.100.6")
	other   = netip.MustParseAddr("10.1.1.12")
	now     = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
)

// well is a host that announces the API's VIP to both of its routers, and another host that of
// ingress.
func well() announcing.Seen {
	session := func(peer string) spoken.Session {
		return spoken.Session{Peer: peer, State: "Established", Since: now.Add(-time.Hour), BFD: "Up", Advertised: []netip.Addr{api}}
	}
	return announcing.Seen{Now: now, Rack: "10.1.1.0/24", Plan: routed.Plan{ASN: 64512, Mode: "ecmp"},
		VIPs: []announcing.Address{{VIP: api, For: vrrp.API, Why: "none"}, {VIP: ingress, For: vrrp.Ingress, Why: "the check ingress does not pass: refused"}},
		Config: &spoken.Config{ASN: 64512, Timing: bgp.Profiles()[0],
			Peers: []spoken.Peer{{Address: netip.MustParseAddr("10.1.1.1"), ASN: 65101}, {Interface: "ens3"}}},
		Wish: &spoken.Wish{Beat: now.Add(-time.Second), Routes: []spoken.Route{{VIP: api, Grade: 4}}},
		Status: &spoken.Status{At: now.Add(-time.Second), Daemons: []spoken.Daemon{{Name: "zebra", Running: true, Starts: 1}, {Name: "bgpd", Running: true, Starts: 2}},
			Sessions: []spoken.Session{session("10.1.1.1"), session("ens3")},
			VIPs: []spoken.VIP{{VIP: api, Phase: speak.Announced, Since: now.Add(-time.Minute), Grade: 4, Others: []spoken.Other{{Session: "10.1.1.1", Announcer: other, Length: 6}}},
				{VIP: ingress, Phase: speak.Idle, Since: now.Add(-time.Hour), Others: []spoken.Other{{Session: "10.1.1.1", Announcer: other, Length: 2}}}}}}
}

// down ends the session with a router.
func down(s *announcing.Seen, i int, why, code string) {
	s.Status.Sessions[i] = spoken.Session{Peer: s.Status.Sessions[i].Peer, State: "Active", Why: why, Code: code}
}

// TestFaults holds what is a fault, and of which level.
func TestFaults(t *testing.T) {
	for _, tt := range []struct {
		name     string
		change   func(*announcing.Seen)
		down     string // what the first one begins with; empty for none
		degraded string
	}{
		{"all is well", func(*announcing.Seen) {}, "", ""},
		{"one of two sessions", func(s *announcing.Seen) { down(s, 0, "BGP Notification received: x", "0202") }, "",
			"the session with router 10.1.1.1 is Active: the last one ended by notification 2/2: the number of the autonomous system"},
		{"both", func(s *announcing.Seen) { down(s, 0, "", ""); down(s, 1, "Peer closed the session", "") },
			"this host has no session with any router: the session with router 10.1.1.1 is Active; the session with router ens3 is Active: the last one ended by: Peer closed", ""},
		{"a session that FRR does not know", func(s *announcing.Seen) { s.Status.Sessions = s.Status.Sessions[:1] }, "", "the session with router ens3 is not known"},
		{"BFD is down", func(s *announcing.Seen) { s.Status.Sessions[1].BFD = "Down" }, "", "BFD with router ens3 is Down"},
		{"BFD is off where it is asked for", func(s *announcing.Seen) { s.Status.Sessions[1].BFD = "" }, "", "BFD with router ens3 is off"},
		{"BFD is off", func(s *announcing.Seen) { s.Status.Sessions[1].BFD, s.Config.Timing.BFD = "", bgp.BFD{} }, "", ""},
		{"wanted, and no router has it", func(s *announcing.Seen) {
			s.Status.Sessions[0].Advertised, s.Status.Sessions[1].Advertised, s.Status.VIPs[0].Phase = nil, nil, speak.Waiting
		}, "this host is to announce the api VIP 198.51.100.5, and no router has it: it is waiting here", ""},
		{"the cluster has gone back to VRRP alone", func(s *announcing.Seen) {
			s.Status.Sessions[0].Advertised, s.Status.Sessions[1].Advertised, s.Status.VIPs[0].Phase = nil, nil, speak.Idle
			s.Wish.Routes[0].Ends = true
		}, "", ""},
		{"VIPs are kept away from the node", func(s *announcing.Seen) {
			s.Status.Sessions[0].Advertised, s.Status.Sessions[1].Advertised, s.Status.VIPs[0].Phase = nil, nil, speak.Idle
			s.Wish.Routes[0].Leaves = true
		}, "", ""},
		{"one router has it not", func(s *announcing.Seen) { s.Status.Sessions[1].Advertised = nil }, "", "router ens3 does not have the api VIP"},
		{"a router of another family", func(s *announcing.Seen) {
			s.Status.Sessions[0].Peer, s.Config.Peers[0].Address, s.Status.Sessions[0].Advertised = "fd00::1", netip.MustParseAddr("fd00::1"), nil
		}, "", ""},
		{"not wanted, and announced on", func(s *announcing.Seen) { s.Wish.Routes, s.Status.VIPs[0].Phase = nil, speak.Idle }, "",
			"router 10.1.1.1, ens3 has the api VIP 198.51.100.5 from this host, which does not serve it"},
		{"a foreign announcer", func(s *announcing.Seen) { s.Status.VIPs[1].Others[0].Announcer = netip.Addr{} }, "",
			"a host that is not of this cluster announces the ingress VIP 198.51.100.6, by router 10.1.1.1"},
		{"a router prefers a longer path", func(s *announcing.Seen) { s.Status.VIPs[0].Others[0].Length = 8 }, "",
			"router 10.1.1.1 does not use this host's path to the api VIP 198.51.100.5: it prefers a longer one"},
		{"it does so for some seconds", func(s *announcing.Seen) {
			s.Status.VIPs[0].Others[0].Length, s.Status.VIPs[0].Since = 8, now.Add(-10*time.Second)
		}, "", ""},
		{"its session is new", func(s *announcing.Seen) {
			s.Status.VIPs[0].Others[0].Length, s.Status.Sessions[0].Since = 8, now.Add(-10*time.Second)
		}, "", ""},
		{"the speaker is silent", func(s *announcing.Seen) { s.Status.At = now.Add(-6 * time.Second) }, "", "the speaker timed out: it has reported nothing for 6s"},
		{"it is just not silent", func(s *announcing.Seen) { s.Status.At = now.Add(-5 * time.Second) }, "", ""},
		{"it has never been started", func(s *announcing.Seen) { s.Status = nil }, "this host is to announce 198.51.100.5, and its speaker has not been started", ""},
		{"it is not needed yet", func(s *announcing.Seen) { s.Status, s.Wish = nil, nil }, "", "the speaker has not been started"},
		{"the monitor is silent", func(s *announcing.Seen) { s.Status.Monitor = spoken.Silent }, "", "the speaker receives nothing of the VIPs' monitor"},
		{"the clock is set, and the monitor works", func(s *announcing.Seen) { s.Wish.Beat = now.Add(-time.Hour) }, "", ""},
		{"the monitor has died", func(s *announcing.Seen) { s.Status.Monitor = spoken.Died }, "", "the VIPs' monitor was killed on this host"},
		{"it leaves", func(s *announcing.Seen) {
			s.Leaving, s.Status.Sessions[0].Advertised, s.Status.Sessions[1].Advertised = true, nil, nil
		}, "", ""},
		{"it has left", func(s *announcing.Seen) { s.Status.Left = true; down(s, 0, "", ""); down(s, 1, "", "") }, "", ""},
		{"a daemon", func(s *announcing.Seen) { s.Status.Daemons[0].Running = false }, "", "zebra of FRR does not run"},
		{"a trouble", func(s *announcing.Seen) { s.Status.Troubles = []string{"read 10.1.1.1"} }, "", "the speaker: read 10.1.1.1"},
		{"no rack", func(s *announcing.Seen) {
			s.Config, s.Status.Sessions, s.Rack, s.NoRack = nil, nil, "", "no rack of bgp.racks has a network of it"
		}, "this host has no router: no rack of bgp.racks", ""},
	} {
		s := well()
		tt.change(&s)
		f := announcing.Of(s).Faults(now)
		begins := func(all []string, want string) bool {
			return (want == "") == (len(all) == 0) && (want == "" || strings.HasPrefix(all[0], want))
		}
		if !begins(f.Down, tt.down) || !begins(f.Degraded, tt.degraded) {
			t.Errorf("%s: %+v", tt.name, f)
		}
	}
}

// TestOf holds what programs read, and the words for people.
func TestOf(t *testing.T) {
	s := well()
	down(&s, 1, "BGP Notification received: Cease/Connection Collision", "0607")
	r := announcing.Of(s)
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"asn":64512,"mode":"ecmp","rack":"10.1.1.0/24"`,
		`{"vip":"198.51.100.5","for":"api","phase":"announced","since":"2026-11-26T11:59:00Z","wanted":true,"grade":4,"routers":["10.1.1.1"],"others":[{"router":"10.1.1.1","host":"10.1.1.12","foreign":false,"length":6}],"uses":[{"router":"10.1.1.1","use":"equal"}]}`,
		`{"vip":"198.51.100.6","for":"ingress","phase":"idle","since":"2026-11-26T11:00:00Z","wanted":false,"why":"the check ingress does not pass: refused","routers":[]`,
		`{"router":"10.1.1.1","asn":65101,"state":"Established","up":true,"since":"2026-11-26T11:00:00Z","bfd":"Up","has":["198.51.100.5"]}`,
		`{"router":"ens3","state":"Active","up":false,"has":[],"why":"BGP Notification received: Cease/Connection Collision","code":"6/7","means":"there is another session`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %s", text, want)
		}
	}
	words := r.Text(now)
	for _, want := range []string{
		"BGP: AS 64512, mode ecmp, in rack 10.1.1.0/24\n", "198.51.100.5 (api): announced to 10.1.1.1, grade 4, announced",
		"198.51.100.6 (ingress): not announced here, idle", ": the check ingress does not pass: refused\n",
		"198.51.100.5: router 10.1.1.1 reports 10.1.1.12, by a path of 6 numbers\n198.51.100.5: router 10.1.1.1 prefers a path of the same length, and may use this host's beside it\n", "router 10.1.1.1 (AS 65101): Established",
		"BFD Up, has 198.51.100.5\n", "router ens3 (any AS): Active, BFD off, has no VIP: the last one ended by notification 6/7: there is another session",
		"speaker: bgpd runs, started 2 times\n",
	} {
		if !strings.Contains(words, want) {
			t.Errorf("%s\nlacks %q", words, want)
		}
	}
	if held := r.Held(); !slices.Equal(held, []string{"198.51.100.5 (api) by this host to 10.1.1.1", "198.51.100.6 (ingress) by 10.1.1.12"}) {
		t.Errorf("%q", held)
	}
	for _, change := range []func(*announcing.Seen){
		func(s *announcing.Seen) { s.Status = nil }, func(s *announcing.Seen) { s.Status.At = now.Add(-time.Hour) }, func(s *announcing.Seen) { s.Leaving = true },
		func(s *announcing.Seen) { s.Status.Left = true }, func(s *announcing.Seen) { *s = announcing.Seen{Now: now} },
		func(s *announcing.Seen) { s.Wish = nil }, func(s *announcing.Seen) { s.Status.Monitor = spoken.Died }, func(s *announcing.Seen) { s.Status.VIPs[1].Others[0].Announcer = netip.Addr{} },
	} {
		s := well()
		change(&s)
		r := announcing.Of(s)
		if _, err := json.Marshal(r); err != nil || !strings.HasPrefix(r.Text(now), "BGP: ") {
			t.Errorf("%v: %s", err, r.Text(now))
		}
	}
}
