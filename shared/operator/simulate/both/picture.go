package both

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/both/pair"
	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
)

// Timeline draws a run: what hosts announced in a strip of their lanes, and clients behind routers
// in a lane of their own.
func Timeline(r pair.Result, title, note string) timeline.Timeline {
	t := r.Elections.Timeline(title, note)
	zero := r.Elections.FirstFault()
	spans := func(all []pair.Stretch) (out []timeline.Span) {
		for _, s := range all {
			if s.To < 0 {
				s.To = r.Elections.Schedule.Length
			}
			out = append(out, timeline.Span{From: s.From - zero, To: s.To - zero, Tone: s.Tone})
		}
		return out
	}
	for _, h := range r.Film.Hosts {
		for i := range t.Lanes {
			if l := &t.Lanes[i]; l.Name == h.Name && len(h.All) > 0 {
				l.Rows = append(l.Rows, timeline.Row{Name: "to routers", Spans: spans(h.All)})
			}
		}
	}
	fails := timeline.Row{Name: "some fail", Thick: true, Spans: spans(r.Film.Fails)}
	t.Lanes = append(t.Lanes, timeline.Lane{Name: "behind routers", Rows: []timeline.Row{fails}})
	for _, s := range fails.Spans {
		t.End = max(t.End, min(s.To+time.Second, r.Elections.Schedule.Length-zero))
	}
	return t
}
