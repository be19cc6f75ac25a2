package gap

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
)

// span is a stretch, in milliseconds.
func span(from, to int, tone timeline.Tone) timeline.Span {
	return timeline.Span{From: time.Duration(from) * time.Millisecond, To: time.Duration(to) * time.Millisecond, Tone: tone}
}

// strip is a lane with stretches.
func strip(name string, spans ...timeline.Span) timeline.Lane {
	return timeline.Lane{Name: name, Rows: []timeline.Row{{Thick: true, Spans: spans}, {Spans: []timeline.Span{{To: time.Hour, Tone: timeline.Waits}}}}}
}

// TestFind holds which times are gaps between announcements, and that only those with a host that
// serves the VIP are drawn.
func TestFind(t *testing.T) {
	for _, tt := range []struct {
		name       string
		lanes      []timeline.Lane
		want, band string
	}{
		{"nobody announces", []timeline.Lane{strip("a", span(0, 900, timeline.Waits)), strip("b", span(0, 900, timeline.Holds))}, "", ""},
		{"before the first one", []timeline.Lane{strip("a", span(0, 100, timeline.Waits), span(100, 1000, timeline.Announces))}, "", ""},
		{"two, and one goes on", []timeline.Lane{strip("a", span(0, 400, timeline.Announces)), strip("b", span(0, 1000, timeline.Announces))}, "", ""},
		{"in order", []timeline.Lane{strip("a", span(0, 400, timeline.Announces), span(400, 500, timeline.Behind)), strip("b", span(500, 1000, timeline.Announces))}, "", ""},
		{"a gap", []timeline.Lane{strip("a", span(0, 400, timeline.Announces), span(400, 700, timeline.Waits)), strip("b", span(600, 1000, timeline.Announces))}, "400 to 600 [a] false", "no announcer 200ms"},
		{"a gap in which none serves", []timeline.Lane{strip("a", span(0, 400, timeline.Announces)), strip("b", span(600, 1000, timeline.Announces))}, "400 to 600 [] false", ""},
		{"at the end", []timeline.Lane{strip("a", span(0, 400, timeline.Announces)), strip("b", span(100, 1000, timeline.Waits))}, "400 to 1000 [b] true", "no announcer"},
		{"afterwards", []timeline.Lane{strip("a", span(0, 1400, timeline.Announces), span(2000, 3000, timeline.Announces))}, "", ""},
	} {
		line := timeline.Timeline{End: time.Second, Lanes: tt.lanes}
		var got, bands []string
		line.Loud = Loud(Find(line))
		for _, g := range Find(line) {
			got = append(got, fmt.Sprintf("%d to %d %v %t", g.From/time.Millisecond, g.To/time.Millisecond, g.Serving, g.Open))
		}
		var page strings.Builder
		if err := (timeline.Page{Timelines: []timeline.Timeline{line}}).Write(&page); err != nil {
			t.Fatal(err)
		}
		if _, text, drawn := strings.Cut(page.String(), ">no announcer"); drawn {
			text, _, _ = strings.Cut(text, "<")
			bands = append(bands, "no announcer"+text)
		}
		if strings.Join(got, ", ") != tt.want || strings.Join(bands, ", ") != tt.band {
			t.Errorf("%s: %q, %q, want %q, %q", tt.name, got, bands, tt.want, tt.band)
		}
	}
}
