package lab

import (
	"slices"
	"time"
)

// Span is a time during which the same hosts held the address.
type Span struct {
	From, To time.Time // of the first sample that saw it, and of the first that saw something else
	Holders  []string
}

// Length is how long the span was, to the distance of two samples.
func (s Span) Length() time.Duration { return s.To.Sub(s.From) }

// Report is what an Observer saw.
type Report struct {
	Spans   []Span // without a hole between them
	Samples int
	Slowest time.Duration // the longest distance between two samples: what is shorter may have been missed
	Err     error         // of the sampling; a report with one proves nothing
}

// Doubles are the spans with more than one holder.
func (r Report) Doubles() []Span {
	return slices.DeleteFunc(slices.Clone(r.Spans), func(s Span) bool { return len(s.Holders) < 2 })
}

// Gaps are the spans without a holder after the first one had it.
func (r Report) Gaps() []Span {
	first := slices.IndexFunc(r.Spans, func(s Span) bool { return len(s.Holders) > 0 })
	if first < 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.Spans[first:]), func(s Span) bool { return len(s.Holders) > 0 })
}
