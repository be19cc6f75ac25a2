package timeline

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// strip is a lane with stretches, in milliseconds.
func strip(name string, spans ...Span) Lane {
	for i := range spans {
		spans[i].From, spans[i].To = spans[i].From*ms, spans[i].To*ms
	}
	return Lane{Name: name, Rows: []Row{{Thick: true, Spans: spans}, {Spans: []Span{{To: time.Hour, Tone: Waits}}}}}
}

// TestGaps holds which times are gaps between announcements, and that only those with a host that
// serves the VIP are drawn.
func TestGaps(t *testing.T) {
	for _, tt := range []struct {
		name       string
		lanes      []Lane
		want, band string
	}{
		{"nobody announces", []Lane{strip("a", Span{0, 900, Waits, ""}), strip("b", Span{0, 900, Holds, ""})}, "", ""},
		{"before the first one", []Lane{strip("a", Span{0, 100, Waits, ""}, Span{100, 1000, Announces, ""})}, "", ""},
		{"two, and one goes on", []Lane{strip("a", Span{0, 400, Announces, ""}), strip("b", Span{0, 1000, Announces, ""})}, "", ""},
		{"in order", []Lane{strip("a", Span{0, 400, Announces, ""}, Span{400, 500, Behind, ""}), strip("b", Span{500, 1000, Announces, ""})}, "", ""},
		{"a gap", []Lane{strip("a", Span{0, 400, Announces, ""}, Span{400, 700, Waits, ""}), strip("b", Span{600, 1000, Announces, ""})}, "400 to 600 [a] false", "no announcer 200ms"},
		{"a gap in which none serves", []Lane{strip("a", Span{0, 400, Announces, ""}), strip("b", Span{600, 1000, Announces, ""})}, "400 to 600 [] false", ""},
		{"at the end", []Lane{strip("a", Span{0, 400, Announces, ""}), strip("b", Span{100, 1000, Waits, ""})}, "400 to 1000 [b] true", "no announcer"},
		{"afterwards", []Lane{strip("a", Span{0, 1400, Announces, ""}, Span{2000, 3000, Announces, ""})}, "", ""},
	} {
		line := Timeline{End: time.Second, Lanes: tt.lanes}
		var got, bands []string
		line.Gaps = line.FindGaps()
		for _, g := range line.Gaps {
			got = append(got, fmt.Sprintf("%d to %d %v %t", g.From/ms, g.To/ms, g.Serving, g.Open))
		}
		for _, b := range line.bands() {
			bands = append(bands, b.label)
		}
		if strings.Join(got, ", ") != tt.want || strings.Join(bands, ", ") != tt.band {
			t.Errorf("%s: %q, %q, want %q, %q", tt.name, got, bands, tt.want, tt.band)
		}
	}
}
