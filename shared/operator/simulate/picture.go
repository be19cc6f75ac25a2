package simulate

import (
	"cmp"
	"fmt"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
)

// Timeline draws a run, from a second before its first fault until nothing happens any more. Times
// count from that fault.
func (r Result) Timeline(title, note string) timeline.Timeline {
	zero := r.fault()
	end := zero
	for _, n := range r.Notes {
		end = max(end, n.At)
	}
	for _, h := range r.Films {
		for _, s := range h.priority {
			end = max(end, s.at)
		}
	}
	begin := max(0, zero-time.Second)
	end = min(r.Schedule.Length, end+max(time.Second, (end-begin)/10))
	t := timeline.Timeline{Title: title, Note: note, Begin: begin - zero, End: end - zero, Marks: r.marks(zero)}
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

// marks are the faults, and what the elections made of them.
func (r Result) marks(zero time.Duration) (marks []timeline.Mark) {
	elections := []string{"MASTER", "leaves", "hands over", "gives up", "boots", "has seen the API work"}
	for _, n := range r.Notes {
		fault := slices.Contains(Kinds(), Kind(n.Text))
		if !fault && !slices.Contains(elections, n.Text) {
			continue
		}
		mark := timeline.Mark{At: n.At - zero, Label: n.Host + " " + n.Text}
		if last := len(marks) - 1; last >= 0 && marks[last].At == mark.At {
			marks[last].Label += ", " + n.Text
			continue
		}
		marks = append(marks, mark)
	}
	return marks
}

// lane is that of a host that takes part.
func (f *Film) lane(r Result, zero time.Duration) (timeline.Lane, bool) {
	if len(f.priority)+len(f.holds)+len(f.api) == 0 {
		return timeline.Lane{}, false
	}
	spans := func(all []stretch, tone timeline.Tone, label string) (out []timeline.Span) {
		for _, s := range r.closed(all) {
			out = append(out, timeline.Span{From: s.from - zero, To: s.to - zero, Tone: tone, Label: label})
		}
		return out
	}
	vip := timeline.Row{Name: "VIP", Thick: true, Spans: slices.Concat(spans(f.away, timeline.Away, ""), spans(f.holds, timeline.Holds, "holds the VIP"))}
	lane := timeline.Lane{Name: f.host, Rows: []timeline.Row{vip}}
	row := func(name string, all []stretch) {
		off := slices.Concat(r.closed(all), r.closed(f.off))
		lane.Rows = append(lane.Rows, timeline.Row{Name: name, Spans: slices.Concat(spans(r.between(off), timeline.Bad, ""), spans(all, timeline.Good, ""))})
	}
	if f.role != role.Worker {
		row("API server", f.api)
	}
	if f.role == role.Master {
		row("redirect", f.redirect)
	}
	for i, name := range f.names {
		row("check "+string(name), f.checks[i])
	}
	for _, s := range f.priority {
		lane.Curve = append(lane.Curve, timeline.Step{At: s.at - zero, Value: s.value})
	}
	return lane, true
}

// closed are stretches that end with the run at the latest.
func (r Result) closed(all []stretch) []stretch {
	out := slices.Clone(all)
	for i := range out {
		if out[i].to < 0 {
			out[i].to = r.Schedule.Length
		}
	}
	return out
}

// between is what of the run is in none of the stretches.
func (r Result) between(all []stretch) (out []stretch) {
	slices.SortFunc(all, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	at := time.Duration(0)
	for _, s := range append(all, stretch{r.Schedule.Length, r.Schedule.Length}) {
		if s.from > at {
			out = append(out, stretch{at, s.from})
		}
		at = max(at, s.to)
	}
	return out
}

var tones = map[Outcome]timeline.Tone{Served: timeline.Served, Refused: timeline.Refused, Late: timeline.Late, Reset: timeline.Reset}

func (r Result) clients(zero time.Duration) timeline.Lane {
	lane := timeline.Lane{Name: "client"}
	for _, q := range r.Requests {
		lane.Points = append(lane.Points, timeline.Point{At: q.At - zero, Tone: tones[q.Outcome]})
	}
	return lane
}

// Text says what came of a run in a few lines: who held the VIP when, and what was broken.
func (r Result) Text() string {
	var text string
	for _, h := range r.Holders {
		who := "nobody"
		if len(h.Hosts) > 0 {
			who = fmt.Sprint(h.Hosts)
			who = who[1 : len(who)-1]
		}
		text += fmt.Sprintf("%12v  %12v  %s\n", h.From.Round(100*time.Microsecond), (h.To - h.From).Round(100*time.Microsecond), who)
	}
	for _, b := range r.Broken {
		text += fmt.Sprintln("broken:", b)
	}
	return text
}
