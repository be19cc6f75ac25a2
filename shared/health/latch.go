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
	Refused // failed, as no process listens: a busy host does not do that
)

func (f Finding) String() string {
	return cmp.Or(map[Finding]string{Passed: "passed", Failed: "failed", Refused: "refused"}[f],
		"untold")
}

// Latch is the state of a check as a state machine without a clock. It changes after so many
// findings in a row that contradict it; one that agrees resets the count, so findings that
// alternate never change it. The zero value is a check that does not pass.
type Latch struct {
	Passes  bool
	run     int // findings in a row that contradict Passes
	refused int // of them, the last ones in a row that are Refused
}

// Next is the latch after one more finding. Untold changes nothing, not even the count.
func (l Latch) Next(f Finding, p Policy) Latch {
	switch {
	case f == Untold:
		return l
	case (f == Passed) == l.Passes:
		l.run, l.refused = 0, 0
		return l
	}
	l.run++
	if l.refused++; f != Refused {
		l.refused = 0
	}
	enough := p.Fall
	if !l.Passes {
		enough = p.Rise
	}
	if l.run >= enough || l.Passes && p.Refused > 0 && l.refused >= p.Refused {
		return Latch{Passes: !l.Passes}
	}
	return l
}
