package health

import "cmp"

// Finding is what one probe of a check found.
type Finding int

// The findings of a probe. A probe that could not be made gives Untold: it proves nothing about the
// service.
const (
	Untold Finding = iota
	Passed
	Failed
)

func (f Finding) String() string {
	return cmp.Or(map[Finding]string{Passed: "passed", Failed: "failed"}[f], "untold")
}

// Latch is the state of a check as a state machine without a clock. It changes after so many
// findings in a row that contradict it; one that agrees resets the count, so findings that
// alternate never change it. The zero value is a check that does not pass.
type Latch struct {
	Passes bool
	run    int // findings in a row that contradict Passes
}

// Next is the latch after one more finding. Untold changes nothing, not even the count.
func (l Latch) Next(f Finding, p Policy) Latch {
	switch {
	case f == Untold:
		return l
	case (f == Passed) == l.Passes:
		l.run = 0
		return l
	}
	l.run++
	enough := p.Fall
	if !l.Passes {
		enough = p.Rise
	}
	if l.run >= enough {
		return Latch{Passes: !l.Passes}
	}
	return l
}
