package life

import (
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/traffic"
)

// tones are the outcomes of requests as a picture shows them.
var tones = map[traffic.Outcome]timeline.Tone{
	traffic.Served: timeline.Served, traffic.Refused: timeline.Refused, traffic.Silent: timeline.Late, traffic.Late: timeline.Late,
	traffic.Reset: timeline.Reset, traffic.Failed: timeline.Failed,
}

// Hosts draws which host held the VIP as an observer saw it, a lane for each host. Times count from
// the moment zero.
func Hosts(r lab.Report, zero time.Time, hosts ...string) (lanes []timeline.Lane) {
	for _, host := range hosts {
		row := timeline.Row{Name: "VIP", Thick: true}
		for _, span := range r.Spans {
			if slices.Contains(span.Holders, host) {
				row.Spans = append(row.Spans, timeline.Span{From: span.From.Sub(zero), To: span.To.Sub(zero), Tone: timeline.Holds, Label: host})
			}
		}
		lanes = append(lanes, timeline.Lane{Name: host, Rows: []timeline.Row{row}})
	}
	return lanes
}

// Clients draws requests by their starts, one lane for all.
func Clients(requests traffic.Requests, zero time.Time) timeline.Lane {
	lane := timeline.Lane{Name: "clients"}
	for _, r := range requests {
		lane.Points = append(lane.Points, timeline.Point{At: r.Start.Sub(zero), Tone: tones[r.Outcome]})
	}
	return lane
}
