package chronicle

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

const (
	api = "one_API_0"
	m   = supervised.Master
	b   = supervised.Backup
	f   = supervised.Fault
	i   = supervised.Init
)

var begin = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// entry is one, so many milliseconds after the beginning.
func entry(at int, state supervised.State, priority int) journal.Entry {
	return journal.Entry{
		At:       begin.Add(time.Duration(at) * time.Millisecond),
		Instance: api,
		VIP:      netip.MustParseAddr("192.0.2.5"),
		State:    state,
		Priority: priority,
		Why:      "because",
		Boot:     "one",
	}
}

// late is a change that the host did not observe, after another boot.
func late(e journal.Entry) journal.Entry {
	e.Late, e.Boot = true, "two"
	return e
}

// afterSilence is a takeover because no advert was received for so many milliseconds.
func afterSilence(e journal.Entry, ms int) journal.Entry {
	e.Silent = ms
	return e
}

// handOver is one from the first host to the second, by clocks of which the second one's is so far
// ahead.
func handOver(ahead int) []Host {
	return []Host{
		{
			Name: "a",
			Entries: []journal.Entry{
				entry(-3600_000, b, 100), entry(-3599_000, m, 170), entry(200, b, 60),
			},
		},
		{Name: "b", Entries: []journal.Entry{entry(-3600_000+ahead, b, 160), entry(ahead, m, 160)}},
	}
}

func TestClocks(t *testing.T) {
	back := handOver(-90_000)
	back[0].Entries = append(back[0].Entries, entry(1800_000, m, 170))
	back[1].Entries = append(back[1].Entries, entry(1800_000-90_000+100, b, 160))
	for _, tt := range []struct {
		name  string
		hosts []Host
		want  string
	}{
		{"in step", handOver(0), "the clocks of a and b agree to 200ms, by one handover between " +
			"them"},
		{"ahead", handOver(60_000), "the clock of b is about 59.8s ahead of that of a, by one " +
			"handover between them"},
		{"behind, there and back", back, "the clock of b is about 1m29.9s behind that of a, by 2 " +
			"handovers between them"},
		{"too far", handOver(700_000), ""},
		{"one host", handOver(0)[:1], ""},
		{"no change was observed", []Host{
			{Name: "a", Entries: []journal.Entry{entry(-1000, b, 1), entry(0, m, 1), late(entry(60_000, b, 1))}},
			{Name: "b", Entries: []journal.Entry{entry(-1000, b, 1), entry(20_000, m, 1)}},
		}, ""},
		{"taken out", []Host{handOver(60_000)[0], {Name: "b", Ahead: 60 * time.Second, Entries: handOver(60_000)[1].Entries}},
			"the clocks of a and b agree to 200ms, by one handover between them"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, c := range Of(tt.hosts...).Clocks {
				got = append(got, c.String())
			}
			if strings.Join(got, "; ") != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// TestIncidents holds what belongs together, whose VIP it is, and in which of them one moved.
func TestIncidents(t *testing.T) {
	other := entry(65_000, b, 7)
	other.Instance, other.VIP = "one_INGRESS_0", netip.Addr{}
	hosts := handOver(0)
	hosts[1].Entries = append(hosts[1].Entries, entry(30_000, f, 160), other,
		entry(200_000, b, 160))
	c := Of(hosts...)
	var got []string
	for _, i := range c.Incidents {
		got = append(
			got,
			fmt.Sprintf("%d events over %v of %v, moved %t", len(i.Events), i.End.Sub(i.Begin),
				i.VIPs(), len(i.MovedVIPs()) > 0),
		)
	}
	want := []string{
		"3 events over 1s of [192.0.2.5 (one_API_0)], moved true",
		"4 events over 1m5s of [192.0.2.5 (one_API_0) one_INGRESS_0], moved true",
		"1 events over 0s of [192.0.2.5 (one_API_0)], moved false",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	first := Of(Host{Name: "a", Entries: []journal.Entry{entry(0, m, 1)}})
	if len(first.Incidents[0].MovedVIPs()) > 0 {
		t.Error("a journal that begins with a VIP it holds has seen it move")
	}
}

// spans writes a row's, in milliseconds; what goes on until the end of the picture has none of its
// own.
func spans(r timeline.Row, end time.Duration) string {
	var all []string
	for _, s := range r.Spans {
		to := fmt.Sprint(s.To.Milliseconds())
		if s.To == end {
			to = "on"
		}
		all = append(all, fmt.Sprintf("%d..%s %s", s.From.Milliseconds(), to, s.Tone))
	}
	return strings.Join(all, ", ")
}

func TestTimeline(t *testing.T) {
	for _, tt := range []struct {
		name  string
		hosts []Host
		lanes []string // of each host its two rows
		marks string
		note  string        // a part
		end   time.Duration // in seconds
	}{
		{"a hand-over", handOver(0),
			[]string{"a: -3599000..200 holds the VIP | -3600000..-3599000 passes, -3599000..200 " +
				"passes, 200..on passes", "b: 0..on holds the VIP | -3600000..0 passes, 0..on " +
				"passes"},
			"0 b MASTER", "0.0 s: b MASTER: because. 0.2 s: a BACKUP: because. By these journals " +
				"more than one host held it for 200ms, or their clocks differ by as much.", 2},
		{"a failure", []Host{
			{Name: "a", Entries: []journal.Entry{entry(-600_000, b, 9), entry(-500_000, m, 9), entry(0, f, 9)}},
			{Name: "b", Entries: []journal.Entry{entry(-600_000, b, 9), entry(345, m, 8)}},
			{Name: "c", Entries: nil},
		}, []string{"a: -500000..0 holds the VIP | -600000..-500000 passes, -500000..0 passes, " +
			"0..on fails", "b: 345..on holds the VIP | -600000..345 passes, 345..on passes"},
			"0 a fault, 345 b MASTER", "there was no holder for 345ms", 2},
		{"a power cut", []Host{
			{Name: "a", Entries: []journal.Entry{entry(-600_000, b, 9), entry(-500_000, m, 9), late(entry(50_000, b, 9))}},
			{Name: "b", Entries: []journal.Entry{entry(-600_000, b, 9), entry(0, m, 8)}},
		}, []string{"a: -500000..0 holds the VIP, 0..50000 off, cut off or stopped | " +
			"-600000..-500000 passes, -500000..0 passes, 0..50000 off, cut off or stopped, " +
			"50000..50000 passes",
			"b: 0..on holds the VIP | -600000..0 passes, 0..on passes"}, "0 b MASTER, 50000 a boots", "a BACKUP: because", 2},
		{"a power cut of which is known when the holder was last received", []Host{
			{Name: "a", Entries: []journal.Entry{entry(-600_000, b, 9), entry(-500_000, m, 9)}},
			{Name: "b", Entries: []journal.Entry{entry(-600_000, b, 9), afterSilence(entry(0, m, 8), 3600)}},
		}, []string{"a: -500000..-3600 holds the VIP, -3600..on off, cut off or stopped | " +
			"-600000..-500000 passes, -500000..-3600 passes, -3600..on off, cut off or stopped",
			"b: 0..on holds the VIP | -600000..0 passes, 0..on passes"}, "0 b MASTER", "By these " +
			"journals there was no holder for 3.6s", 2},
		{"the end", []Host{{Name: "a", Entries: []journal.Entry{entry(-600_000, b, 9), entry(-500_000, m, 9), entry(0, i, 0)}}},
			[]string{"a: -500000..0 holds the VIP | -600000..-500000 passes, -500000..0 passes, " +
				"0..on off, cut off or stopped"}, "0 a ends", "", 2},
		{"it moves long after the first event, and another VIP's picture has no move", []Host{
			{Name: "a", Entries: []journal.Entry{entry(-40_000, b, 9), entry(0, m, 9)}},
		}, []string{"a: 0..on holds the VIP | -40000..0 passes, 0..on passes"}, "0 a MASTER", "a MASTER", 2},
		{"nothing moves", []Host{{Name: "a", Entries: []journal.Entry{entry(0, b, 9), entry(30_000, f, 9)}}},
			[]string{"a:  | 0..30000 passes, 30000..on fails"}, "30000 a fault", "", 36},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := Of(tt.hosts...)
			last := c.Incidents[len(c.Incidents)-1]
			line := c.Timeline(last, last.VIPs()[0])
			var lanes, marks []string
			for _, l := range line.Lanes {
				lanes = append(lanes,
					l.Name+": "+spans(l.Rows[0], line.End)+" | "+spans(l.Rows[1], line.End))
			}
			for _, m := range line.Marks {
				marks = append(marks, fmt.Sprintf("%d %s", m.At.Milliseconds(), m.Label))
			}
			if strings.Join(lanes, "\n") != strings.Join(tt.lanes, "\n") {
				t.Errorf("lanes\n%s\nwant\n%s", strings.Join(lanes, "\n"),
					strings.Join(tt.lanes, "\n"))
			}
			if strings.Join(marks, ", ") != tt.marks || !strings.Contains(line.Note, tt.note) {
				t.Errorf("marks %q, note %q", marks, line.Note)
			}
			if tt.note == "" && strings.Contains(line.Note, "nobody") {
				t.Errorf("note %q: who held it is in no journal of these", line.Note)
			}
			if line.Title != "192.0.2.5 (one_API_0), 2026-01-02 03:04:05Z" || line.Begin >= 0 ||
				line.End.Round(time.Second) != tt.end*time.Second {
				t.Errorf("%q from %v to %v", line.Title, line.Begin, line.End)
			}
		})
	}
}
