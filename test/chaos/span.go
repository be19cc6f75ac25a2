package chaos

import (
	"cmp"
	"slices"
	"time"
)

// span is a stretch of time.
type span struct{ from, to time.Duration }

func (s span) length() time.Duration { return s.to - s.from }

// without is what is left of spans when others are taken away.
func without(spans, others []span) (left []span) {
	left = slices.Clone(spans)
	for _, o := range others {
		if o.length() <= 0 {
			continue
		}
		var next []span
		for _, s := range left {
			if before := (span{s.from, min(s.to, o.from)}); before.length() > 0 {
				next = append(next, before)
			}
			if after := (span{max(s.from, o.to), s.to}); after.length() > 0 {
				next = append(next, after)
			}
		}
		left = next
	}
	return left
}

// joined are spans in the order of time, those that touch each other as one.
func joined(spans []span) (all []span) {
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for _, s := range spans {
		if n := len(all); n > 0 && s.from <= all[n-1].to {
			all[n-1].to = max(all[n-1].to, s.to)
			continue
		}
		all = append(all, s)
	}
	return all
}

// overlap is what spans have in common with another one.
func overlap(spans []span, with span) (all []span) {
	for _, s := range spans {
		if in := (span{max(s.from, with.from), min(s.to, with.to)}); in.length() > 0 {
			all = append(all, in)
		}
	}
	return all
}

// within reports whether some span has a moment in common with another one.
func within(spans []span, with span) bool {
	return slices.ContainsFunc(spans, func(s span) bool { return s.from <= with.to && with.from <= s.to })
}
