package query

import (
	"errors"
	"fmt"
	"time"
)

// onTime is how late a question may be asked that still belongs to its moment.
const onTime = 100 * time.Millisecond

// enough is the share of the questions that must be asked at their moment.
const enough = 0.8

// Outcome is what became of all questions.
type Outcome struct {
	Answers []Answer
	Due     int     // how many questions belong to the time from Start to Stop
	Starved float64 // the share of moments that one who does nothing but wait for them missed: the machine was too busy to let us run
	Dropped int     // questions for which the kernel of the server's host had no room, as the server did not run
}

// Err says what is wrong: each answer that is lost; questions that were never asked; and too few of
// them asked at their moment, as a loss of that moment would not be seen. A machine that lets
// nobody run at that moment is not to blame for the last, but only for as much as it took from
// others too. What is late because of that is asked all the same, and its answers count. Nor does a
// server lose what it never could read, as the machine did not let it run: as many lost questions as
// were dropped are none.
func (o Outcome) Err() error {
	var errs []error
	var late []time.Duration
	lost := o.Lost() > o.Dropped
	for i, a := range o.Answers {
		if late = append(late, a.Late); lost && a.Lost() {
			errs = append(errs, fmt.Errorf("question %d, %s: lost after %s, rcode %d, %q, want one of %q", i, a.Name, a.Took, a.Rcode, a.Text, a.Want))
		}
	}
	if asked := len(o.Answers); asked < o.Due {
		errs = append(errs, fmt.Errorf("%d questions asked of %d", asked, o.Due))
	}
	if share := punctual(late); share < enough-o.Starved {
		errs = append(errs, fmt.Errorf("%.0f%% of the questions asked at their moment, want %.0f%%, less the %.0f%% that the machine was too busy for", 100*share, 100*enough, 100*o.Starved))
	}
	return errors.Join(errs...)
}

// Lost is how many answers are lost.
func (o Outcome) Lost() (n int) {
	for _, a := range o.Answers {
		if a.Lost() {
			n++
		}
	}
	return n
}

// Slowest is how long the slowest answer took.
func (o Outcome) Slowest() (slowest time.Duration) {
	for _, a := range o.Answers {
		slowest = max(slowest, a.Took)
	}
	return slowest
}

// punctual is the share of what was not late.
func punctual(late []time.Duration) float64 {
	n := 0
	for _, d := range late {
		if d <= onTime {
			n++
		}
	}
	return float64(n) / float64(max(1, len(late)))
}
