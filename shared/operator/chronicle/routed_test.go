package chronicle

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/speak"
)

var shared = netip.MustParseAddr("198.51.100.5")

// route is a host's entry about the VIP, so many milliseconds after the beginning.
func route(at int, host int, phase speak.Phase) journal.Entry {
	e := entry(at, "", 0)
	e.VIP, e.Instance = shared, journal.RoutedInstance(shared)
	e.Announcement = journal.Announcement{Kind: journal.OfRoute, Phase: phase, Grade: 4, Host: address(host)}
	return e
}

func address(host int) netip.Addr { return netip.MustParseAddr(fmt.Sprintf("10.1.1.%d", host)) }

func session(at, host int, up bool) journal.Entry {
	e := entry(at, "", 0)
	e.VIP, e.Instance = netip.Addr{}, "bgp"
	e.Announcement = journal.Announcement{Kind: journal.OfSession, Peer: "10.1.1.1", Up: up, Host: address(host)}
	return e
}

func others(at, host int, all ...netip.Addr) journal.Entry {
	e := route(at, host, "")
	e.Announcement = journal.Announcement{Kind: journal.OfOthers, Others: all, Host: address(host)}
	return e
}

// TestRouted holds what is drawn of hosts that announce a VIP, and that no announcer is a finding
// where a host serves the VIP, and several at once are none.
func TestRouted(t *testing.T) {
	const idle, waits, on, behind, off = speak.Idle, speak.Waiting, speak.Announced, speak.Demoted, speak.Withdrawn
	for _, tt := range []struct {
		name  string
		hosts []Host
		lanes []string
		marks string
		note  string // a part of the picture's
		page  string // a part of the page's; empty if no gap is named
		alarm int    // rows
	}{
		{"one of two withdraws, and comes back", []Host{
			{Name: "a", Entries: []journal.Entry{session(-9000, 11, true), route(-9000, 11, on), route(0, 11, off), route(1000, 11, idle), route(3000, 11, on)}},
			{Name: "b", Entries: []journal.Entry{route(-9000, 12, on)}},
		}, []string{"a: -9000..0 announces the VIP, 3000..on announces the VIP | -9000..on passes", "b: -9000..on announces the VIP"},
			"0 a withdraws, 3000 a announces", "0.0 s: a withdrawn: because. 3.0 s: a announced: because.", "", 0},
		{"one leaves in order", []Host{
			{Name: "a", Entries: []journal.Entry{route(-9000, 11, on), route(-1000, 11, behind), route(0, 11, off), route(1000, 11, idle)}},
			{Name: "b", Entries: []journal.Entry{route(-9000, 12, idle), route(-500, 12, on)}},
		}, []string{"a: -8500..-500 announces the VIP, -500..500 announces it behind all others, 500..1500 serves it, unannounced", "b: 0..on announces the VIP"},
			"-500 a is demoted, 0 b announces, 500 a withdraws", "", "", 0},
		{"all sessions of the only one end", []Host{
			{Name: "a", Entries: []journal.Entry{session(-9000, 11, true), route(-9000, 11, on), route(0, 11, waits), session(1, 11, false), session(2300, 11, true), route(3300, 11, on)}},
			{Name: "b", Entries: []journal.Entry{route(-9000, 12, idle)}},
		}, []string{"a: -9000..0 announces the VIP, 0..3300 serves it, unannounced, 3300..on announces the VIP | -9000..1 passes, 1..2300 fails, 2300..on passes", "b: "},
			"0 a loses its routers, 3300 a announces", "By these journals no host announced it for 3.3s, while a served it.",
			"198.51.100.5 by BGP, 2026-01-02 03:04:05.000Z: By these journals no host announced it for 3.3s, while a served it.", 1},
		{"none serves", []Host{{Name: "a", Entries: []journal.Entry{route(-9000, 11, on), route(0, 11, off), route(1000, 11, idle)}}},
			[]string{"a: -9000..0 announces the VIP"}, "0 a withdraws", "no host announces it at the end, and none served it.", "no host announces it at the end, and none served it.", 0},
		{"routers report one of which there is no journal", []Host{
			{Name: "a", Entries: []journal.Entry{route(-9000, 11, on), others(-5000, 11, address(13)), route(0, 11, waits), route(3300, 11, on)}},
		}, []string{"a: -9000..0 announces the VIP, 0..3300 serves it, unannounced, 3300..on announces the VIP"}, "0 a loses its routers, 3300 a announces", "3.3 s: a announced", "", 0},
		{"a power cut that others saw", []Host{
			{Name: "a", Entries: []journal.Entry{route(-9000, 11, on), late(route(50_000, 11, idle))}},
			{Name: "b", Entries: []journal.Entry{route(-9000, 12, idle), others(-9000, 12, address(11)), others(0, 12), route(2000, 12, on)}},
		}, []string{"a: -11000..-2000 announces the VIP", "b: 0..on announces the VIP"}, "0 b announces, 48000 a boots",
			"no host announced it for 2s, and none served it", "no host announced it for 2s, and none served it", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := Of(tt.hosts...)
			var moved []Incident
			for _, i := range c.Incidents {
				if len(i.MovedVIPs()) > 0 {
					moved = append(moved, i)
				}
			}
			line := c.Timeline(moved[len(moved)-1], moved[len(moved)-1].MovedVIPs()[0])
			var lanes, marks []string
			for _, l := range line.Lanes {
				var rows []string
				for _, r := range l.Rows {
					rows = append(rows, spans(r, line.End))
				}
				lanes = append(lanes, l.Name+": "+strings.Join(rows, " | "))
			}
			for _, m := range line.Marks {
				marks = append(marks, fmt.Sprintf("%d %s", m.At.Milliseconds(), m.Label))
			}
			if strings.Join(lanes, "\n") != strings.Join(tt.lanes, "\n") {
				t.Errorf("lanes\n%s\nwant\n%s", strings.Join(lanes, "\n"), strings.Join(tt.lanes, "\n"))
			}
			if strings.Join(marks, ", ") != tt.marks || !strings.Contains(line.Note, tt.note) || tt.page == "" && strings.Contains(line.Note, "no host") {
				t.Errorf("marks %q, note %q", marks, line.Note)
			}
			page, err := Page(tt.hosts, 5)
			if err != nil {
				t.Fatal(err)
			}
			alarms := 0
			for _, r := range page.Rows {
				if len(r.Cells) != len(page.Head) {
					t.Errorf("%d cells: %q", len(r.Cells), r.Cells)
				}
				if r.Alarm {
					alarms++
				}
			}
			if named := strings.Contains(page.Note, "no host"); named != (tt.page != "") || !strings.Contains(page.Note, tt.page) || alarms != tt.alarm || strings.Contains(page.Note, "handovers between") {
				t.Errorf("%d alarms, note %q", alarms, page.Note)
			}
			var out strings.Builder
			if err := page.Write(&out); err != nil || strings.Contains(out.String(), "dual holders") || strings.Contains(out.String(), "no announcer") != (tt.alarm > 0) {
				t.Errorf("%v: %d bytes drawn", err, out.Len())
			}
		})
	}
}

// TestRouted_Both holds that a VIP that hosts hold by VRRP and announce by BGP has a picture of each.
func TestRouted_Both(t *testing.T) {
	hosts := handOver(0)
	hosts[0].Entries = append(hosts[0].Entries, route(-3600_000, 11, speak.Announced), route(100, 11, speak.Withdrawn))
	page, err := Page(hosts, 1)
	if err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, one := range page.Timelines {
		titles = append(titles, one.Title)
	}
	want := "198.51.100.5 by BGP, 2026-01-02 03:04:05Z; 192.0.2.5 (one_API_0), 2026-01-02 03:04:05Z"
	if got := strings.Join(titles, "; "); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if len(page.Timelines) == 2 && (len(page.Timelines[0].Lanes) != 1 || len(page.Timelines[1].Lanes) != 2) {
		t.Errorf("%+v", page.Timelines)
	}
}
