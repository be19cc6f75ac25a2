package world

import (
	"fmt"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/schedule"
)

// Result is what came of a run.
type Result struct {
	Schedule schedule.Schedule
	Cost     Cost
	Broken   []Broken
	Notes    []Note
}

// Cost is what a run cost its clients, from the first fault on.
type Cost struct {
	Flows int
	Share int // how many clients failed at one time, at most
	// Dark is the longest time in which one of them failed, and Last the time from the fault until
	// the last one failed no more: of those behind the fabric, and of those in the racks.
	Dark, Last [2]time.Duration
	// Own are the long connections that ended because their host served no more, and Others those
	// that routers led to another host while theirs served.
	Own, Others int
}

// Broken is a rule that did not hold.
type Broken struct {
	At   time.Duration
	Rule string
	Why  string
}

func (b Broken) String() string { return fmt.Sprintf("%v %s: %s", Short(b.At), b.Rule, b.Why) }

// Note is something that happened.
type Note struct {
	At    time.Duration
	Where string
	What  string
}

// Short is a time for people.
func Short(d time.Duration) time.Duration { return d.Round(ms) }

// Text is a run for people, a line for each thing that happened.
func (r Result) Text() string {
	var text strings.Builder
	for _, n := range r.Notes {
		fmt.Fprintf(&text, "%12v  %-20s %s\n", Short(n.At), n.Where, n.What)
	}
	c := r.Cost
	if c.Flows > 0 {
		fmt.Fprintf(&text, "of %d clients %d failed at one time\n", c.Flows, c.Share)
		for i, where := range []string{"behind the fabric", "in a rack"} {
			fmt.Fprintf(&text, "%s: one failed for %v, the last one until %v after the first "+
				"fault\n", where, Short(c.Dark[i]), Short(c.Last[i]))
		}
		fmt.Fprintf(&text, "long connections broken: %d of hosts that failed or left, %d of "+
			"others\n", c.Own, c.Others)
	}
	for _, b := range r.Broken {
		fmt.Fprintf(&text, "broken: %s\n", b)
	}
	return text.String()
}
