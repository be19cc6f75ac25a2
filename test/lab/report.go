package lab

import (
	"slices"
	"time"
)

// Span is a time during which the same hosts held the address.
type Span struct {
	From, To time.Time // of its first sample, and of the first sample after it
	Holders  []string
}

// Length is the duration of the span, to the interval of two samples.
func (s Span) Length() time.Duration { return s.To.Sub(s.From) }

// Report is the result of an Observer.
type Report struct {
	Spans   []Span // without a time between them
	Samples int
	// the longest interval between two samples: a shorter change may be missed
	Slowest time.Duration
	Err     error // of the sampling; a report with one proves nothing
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
	return slices.DeleteFunc(slices.Clone(r.Spans[first:]), func(s Span) bool {
		return len(s.Holders) > 0
	})
}
