package orders

import "time"

// refresh is how old a part's last report becomes before the part writes it again.
const refresh = Stale / 5

// Reporter writes the reports of a part. It is for one goroutine.
type Reporter struct {
	part Part
	last Report // the last that was written; the zero report before the first
}

// NewReporter is one that has written nothing yet.
func NewReporter(p Part) *Reporter { return &Reporter{part: p} }

// Report writes what a part does, if that differs from its last report or that is old. It sets
// Part, Since and At. A report that could not be written is written the next time.
func (r *Reporter) Report(state Report, now time.Time, write func(Report) error) error {
	next, due := r.next(state, now)
	if !due {
		return nil
	}
	if err := write(next); err != nil {
		return err
	}
	r.last = next
	return nil
}

func (r *Reporter) next(state Report, now time.Time) (next Report, due bool) {
	next = state
	next.Part, next.Since, next.At = r.part, r.last.Since, r.last.At
	first := r.last == Report{}
	due = first || next != r.last
	if first || next.On != r.last.On {
		next.Since = now
	}
	if age := now.Sub(r.last.At); age < 0 || age >= refresh {
		due = true
	}
	next.At = now
	return next, due
}
