package script

import (
	"fmt"
	"strings"
	"time"
)

// Kind is a kind of fault. Each simulation has its own.
type Kind string

// Fault is one fault.
type Fault struct {
	After string // what it begins after, where runs have such marks; empty for the begin of the run
	At    time.Duration
	Kind  Kind
	Host  string        // or what else it happens to: a router, a link, a rack
	For   time.Duration // 0: it does not end, or ends by itself
	// Amount is of kinds that have one: percent of what is lost, or milliseconds of a delay.
	Amount int
}

// String writes a fault as a line of a schedule: 1.5s loss master-0 20 for 3s.
func (f Fault) String() string {
	text := fmt.Sprintf("%v %s %s", f.At, f.Kind, f.Host)
	if f.After != "" {
		text = f.After + "+" + text
	}
	if f.Amount != 0 {
		text += fmt.Sprintf(" %d", f.Amount)
	}
	if f.For != 0 {
		text += fmt.Sprintf(" for %v", f.For)
	}
	return text
}

// Schedule is a list of faults. The seed decides everything else that is random.
type Schedule struct {
	Seed   uint64
	Length time.Duration // 0 for one that ends with the run
	Faults []Fault
}

// String writes a schedule as it is read.
func (s Schedule) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "seed %d\n", s.Seed)
	if s.Length > 0 {
		fmt.Fprintf(&text, "length %v\n", s.Length)
	}
	for _, f := range s.Faults {
		fmt.Fprintln(&text, f)
	}
	return text.String()
}
