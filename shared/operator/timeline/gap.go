package timeline

import (
	"cmp"
	"slices"
	"time"
)

// Gap is a time after an announcement in which no lane announces the VIP.
type Gap struct {
	From, To time.Duration
	Open     bool     // it lasts until the end of the timeline
	Serving  []string // the lanes that serve the VIP meanwhile, for some time of it
}

// placed is a stretch of what a lane is about.
type placed struct {
	lane string
	Span
}

// thick are the stretches of what the lanes are about.
func (t Timeline) thick() (all []placed) {
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

// FindGaps finds the gaps between announcements, and after the last one, in the order of time. Two
// lanes that announce at the same time are none, and neither is a change in order.
func (t Timeline) FindGaps() (all []Gap) {
	var announced []placed
	for _, s := range t.thick() {
		if (s.Tone == Announces || s.Tone == Behind) && s.To > s.From {
			announced = append(announced, s)
		}
	}
	slices.SortStableFunc(announced, func(a, b placed) int { return cmp.Compare(a.From, b.From) })
	for i, s := range announced {
		last := announced[0].To
		for _, before := range announced[:i] {
			last = max(last, before.To)
		}
		if i > 0 && s.From-last >= leastDual {
			all = append(all, Gap{From: last, To: s.From})
		}
	}
	if len(announced) > 0 {
		last := slices.MaxFunc(announced, func(a, b placed) int { return cmp.Compare(a.To, b.To) }).To
		if t.End-last >= leastDual {
			all = append(all, Gap{From: last, To: t.End, Open: true})
		}
	}
	for i := range all {
		all[i].Serving = t.serving(all[i])
	}
	return slices.DeleteFunc(all, func(g Gap) bool { return g.To < t.Begin || g.From > t.End })
}

// serving are the lanes that serve the VIP in a gap.
func (t Timeline) serving(g Gap) (lanes []string) {
	for _, s := range t.thick() {
		if s.Tone == Waits && min(s.To, g.To)-max(s.From, g.From) >= leastDual &&
			!slices.Contains(lanes, s.lane) {
			lanes = append(lanes, s.lane)
		}
	}
	return lanes
}
