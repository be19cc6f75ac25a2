package query

import (
	"errors"
	"fmt"
	"time"
)

// moment is a part of the time from Start to Stop, in which something may be lost that is seen only
// if it is asked for then.
const moment = 100 * time.Millisecond

// enough is the share of the moments in which a question must be asked.
const enough = 0.8

// Outcome is what became of all questions.
type Outcome struct {
	Answers []Answer
	Begun   time.Time
	Ended   time.Time
	Due     int     // how many questions belong to the time from Start to Stop
	Starved float64 // the share of moments in which not even one ran that does nothing but wait: the machine was too busy to let us run
	Dropped int     // questions for which the kernel of the server's host had no room, as the server did not run
}

// Err says what is wrong: each answer that is lost; questions that were never asked; and too few
// moments with a question, as a loss of the others would not be seen. A machine that lets nobody run
// at a moment is not to blame for the last, but only for as much as it took from others too. What is
// asked late because of that counts all the same. Nor does a server lose what it never could read,
// as the machine did not let it run: as many lost questions as were dropped are none.
func (o Outcome) Err() error {
	var errs []error
	var asked []time.Time
	lost := o.Lost() > o.Dropped
	for i, a := range o.Answers {
		if asked = append(asked, a.Asked); lost && a.Lost() {
			errs = append(errs, fmt.Errorf("question %d, %s: lost after %s, rcode %d, %q, want one of %q", i, a.Name, a.Took, a.Rcode, a.Text, a.Want))
		}
	}
	if len(o.Answers) < o.Due {
		errs = append(errs, fmt.Errorf("%d questions asked of %d", len(o.Answers), o.Due))
	}
	if share := o.covered(asked); share < enough-o.Starved {
		errs = append(errs, fmt.Errorf("a question in %.0f%% of the moments, want %.0f%%, less the %.0f%% that the machine was too busy for", 100*share, 100*enough, 100*o.Starved))
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

// covered is the share of the moments from Start to Stop in which something happened.
func (o Outcome) covered(at []time.Time) float64 {
	all := max(1, int(o.Ended.Sub(o.Begun)/moment))
	seen := map[int]bool{}
	for _, t := range at {
		if n := int(t.Sub(o.Begun) / moment); n < all {
			seen[n] = true
		}
	}
	return float64(len(seen)) / float64(all)
}
