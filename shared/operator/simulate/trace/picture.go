package trace

import (
	"cmp"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// Timeline draws a run, from a second before its first fault until the last event. Times count from
// that fault.
func (r Result) Timeline(title, note string) timeline.Timeline {
	zero := r.FirstFault()
	end := zero
	for _, n := range r.Notes {
		end = max(end, n.At)
	}
	for _, h := range r.Films {
		for _, s := range h.Priority {
			end = max(end, s.At)
		}
	}
	begin := max(0, zero-time.Second)
	end = min(r.Schedule.Length, end+max(time.Second, (end-begin)/10))
	t := timeline.Timeline{
		Title: title, Note: note, Begin: begin - zero, End: end - zero, Marks: r.marks(zero),
	}
	for _, f := range r.Films {
		if lane, ok := f.lane(r, zero); ok {
			t.Lanes = append(t.Lanes, lane)
		}
	}
	if len(r.Requests) > 0 {
		t.Lanes = append(t.Lanes, r.clients(zero))
	}
	return t
}

// marks are the faults and the state changes that followed.
func (r Result) marks(zero time.Duration) (marks []timeline.Mark) {
	host := "" // of the last text
	elections := []string{
		"MASTER", "releases", "hands over", "boots", "has seen the API work",
	}
	for _, n := range r.Notes {
		fault := slices.Contains(schedule.Kinds(), schedule.Kind(n.Text))
		if !fault && !slices.Contains(elections, n.Text) {
			continue
		}
		mark := timeline.Mark{At: n.At - zero, Label: n.Host + " " + n.Text}
		last := len(marks) - 1
		switch {
		case last < 0 || marks[last].At != mark.At:
			marks = append(marks, mark)
		case n.Host == host:
			marks[last].Label += ", " + n.Text
		default:
			marks[last].Label += ", " + mark.Label
		}
		host = n.Host
	}
	return marks
}

// lane is the lane of a host that has a history.
func (f *Film) lane(r Result, zero time.Duration) (timeline.Lane, bool) {
	if len(f.Priority)+len(f.Holds)+len(f.API) == 0 {
		return timeline.Lane{}, false
	}
	spans := func(all []Stretch, tone timeline.Tone, label string) (out []timeline.Span) {
		for _, s := range r.closed(all) {
			out = append(out,
				timeline.Span{From: s.from - zero, To: s.to - zero, Tone: tone, Label: label})
		}
		return out
	}
	lane := timeline.Lane{Name: f.Host, Rows: []timeline.Row{{Name: "VIP", Thick: true,
		Spans: append(spans(f.Away, timeline.Away, ""),
			spans(f.Holds, timeline.Holds, "holds the VIP")...)}}}
	row := func(name string, all []Stretch) {
		off := r.outside(append(r.closed(all), r.closed(f.Off)...))
		lane.Rows = append(lane.Rows, timeline.Row{Name: name, Spans: append(
			spans(off, timeline.Bad, ""), spans(all, timeline.Good, "")...)})
	}
	if f.Role != role.Worker {
		row("API server", f.API)
	}
	if f.Role == role.Master {
		row("redirect", f.Redirect)
	}
	for i, name := range f.Names {
		row("check "+string(name), f.Checks[i])
	}
	for _, s := range f.Priority {
		lane.Curve = append(lane.Curve, timeline.Step{At: s.At - zero, Value: s.Value})
	}
	return lane, true
}

// closed are stretches that end with the run at the latest.
func (r Result) closed(all []Stretch) []Stretch {
	out := slices.Clone(all)
	for i := range out {
		if out[i].to < 0 {
			out[i].to = r.Schedule.Length
		}
	}
	return out
}

// outside is the rest of the run outside the stretches.
func (r Result) outside(all []Stretch) (out []Stretch) {
	slices.SortFunc(all, func(a, b Stretch) int { return cmp.Compare(a.from, b.from) })
	at := time.Duration(0)
	for _, s := range append(all, Stretch{r.Schedule.Length, r.Schedule.Length}) {
		if s.from > at {
			out = append(out, Stretch{at, s.from})
		}
		at = max(at, s.to)
	}
	return out
}

var tones = map[Outcome]timeline.Tone{
	Served: timeline.Served, Refused: timeline.Refused, Late: timeline.Late, Reset: timeline.Reset,
}

func (r Result) clients(zero time.Duration) timeline.Lane {
	lane := timeline.Lane{Name: "client"}
	for _, q := range r.Requests {
		lane.Points = append(lane.Points, timeline.Point{At: q.At - zero, Tone: tones[q.Outcome]})
	}
	return lane
}
