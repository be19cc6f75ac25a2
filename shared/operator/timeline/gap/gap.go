// Package gap finds the times of a picture in which no host announces a VIP.
package gap

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
)

// least is the shortest gap: a change in order takes less.
const least = time.Millisecond

// Gap is a time after an announcement in which no lane announces the VIP.
type Gap struct {
	From, To time.Duration
	Open     bool     // it lasts until the end of the picture
	Serving  []string // the lanes that serve the VIP meanwhile, for some time of it
}

// String is a gap in a sentence.
func (g Gap) String() string {
	text := fmt.Sprintf("By these journals no host announced it for %v",
		(g.To - g.From).Round(time.Millisecond))
	if g.Open {
		text = "By these journals no host announces it at the end"
	}
	if len(g.Serving) == 0 {
		return text + ", and none served it."
	}
	return text + ", while " + strings.Join(g.Serving, ", ") + " served it."
}

// Loud are the gaps in which a lane serves the VIP, as a picture has them.
func Loud(all []Gap) (loud []timeline.Span) {
	for _, g := range all {
		s := timeline.Span{From: g.From, To: g.To, Label: "no announcer"}
		if !g.Open {
			s.Label += fmt.Sprintf(" %v", (g.To - g.From).Round(time.Millisecond))
		}
		if len(g.Serving) > 0 {
			loud = append(loud, s)
		}
	}
	return loud
}

// placed is a span of a thick row, with the name of its lane.
type placed struct {
	lane string
	timeline.Span
}

// thick are the spans of all thick rows: what the lanes are about.
func thick(t timeline.Timeline) (all []placed) {
	for _, lane := range t.Lanes {
		for _, r := range lane.Rows {
			if !r.Thick {
				continue
			}
			for _, s := range r.Spans {
				all = append(all, placed{lane.Name, s})
			}
		}
	}
	return all
}

// Find finds the gaps between announcements, and after the last one, in the order of time. Lanes
// that announce at the same time leave no gap, and neither does a change in order.
func Find(t timeline.Timeline) (all []Gap) {
	var announced []placed
	for _, s := range thick(t) {
		if (s.Tone == timeline.Announces || s.Tone == timeline.Behind) && s.To > s.From {
			announced = append(announced, s)
		}
	}
	slices.SortStableFunc(announced, func(a, b placed) int { return cmp.Compare(a.From, b.From) })
	for i, s := range announced {
		last := announced[0].To
		for _, before := range announced[:i] {
			last = max(last, before.To)
		}
		if i > 0 && s.From-last >= least {
			all = append(all, Gap{From: last, To: s.From})
		}
	}
	if len(announced) > 0 {
		last := slices.MaxFunc(announced,
			func(a, b placed) int { return cmp.Compare(a.To, b.To) }).To
		if t.End-last >= least {
			all = append(all, Gap{From: last, To: t.End, Open: true})
		}
	}
	for i := range all {
		all[i].Serving = serving(t, all[i])
	}
	return slices.DeleteFunc(all,
		func(g Gap) bool { return g.To < t.Begin || g.From > t.End })
}

// serving are the lanes that serve the VIP in a gap.
func serving(t timeline.Timeline, g Gap) (lanes []string) {
	for _, s := range thick(t) {
		if s.Tone == timeline.Waits && min(s.To, g.To)-max(s.From, g.From) >= least &&
			!slices.Contains(lanes, s.lane) {
			lanes = append(lanes, s.lane)
		}
	}
	return lanes
}
