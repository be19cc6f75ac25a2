package health

// Finding is what one look of a check found.
type Finding int

// What a look finds. Untold is that of a look which could not be made: it says nothing about who
// was to be looked at.
const (
	Untold Finding = iota
	Passed
	Failed
)

func (f Finding) String() string {
	switch f {
	case Passed:
		return "passed"
	case Failed:
		return "failed"
	default:
		return "untold"
	}
}

// Latch is the state of a check as a state machine without a clock: it changes after so many
// findings in a row that contradict it, and one that agrees with it begins the count anew. So
// findings that alternate never change it. The zero value is a check that does not pass.
type Latch struct {
	Passes bool
	run    int // findings in a row that contradict Passes
}

// Next is the latch after one more finding. One that is Untold changes nothing, the count neither:
// whoever cannot look has not seen better or worse.
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
