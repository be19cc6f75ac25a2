package world

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/schedule"
)

// Result is what came of a run.
type Result struct {
	Schedule schedule.Schedule
	Marks    map[string]time.Duration
	Joined   time.Duration // when the last host had joined; -1 if not all have
	Nodes    time.Duration // the same of the control plane
	Silence  time.Duration // the longest time in which a host asked and got no answer
	Wasted   int           // boots from the network that led to nothing
	// Rewritten are disks of hosts that ran their system, and which metal3 had written anew.
	Rewritten int
	TakenBack int      // how often provisioning was
	Blocked   []string // hosts that need a person, with the reason
	Broken    []Broken
	Notes     []Note
}

func newResult(s schedule.Schedule) Result {
	return Result{Schedule: s, Marks: map[string]time.Duration{}, Joined: -1, Nodes: -1}
}

// Broken is a rule that did not hold.
type Broken struct {
	At   time.Duration
	Rule string
	Why  string
}

func (b Broken) String() string {
	return fmt.Sprintf("%v %s: %s", Short(b.At), b.Rule, b.Why)
}

// Note is something that happened.
type Note struct {
	At    time.Duration
	Where string
	What  string
}

// Note records what happened, for people.
func (w *World) Note(where, what string) {
	w.Result.Notes = append(w.Result.Notes, Note{w.Now, where, what})
}

// Text is a run for people, a line for each thing that happened.
func (r Result) Text() string {
	var text strings.Builder
	for _, n := range r.Notes {
		fmt.Fprintf(&text, "%12v  %-12s %s\n", Short(n.At), n.Where, n.What)
	}
	for _, b := range r.Blocked {
		fmt.Fprintf(&text, "blocked: %s\n", b)
	}
	for _, b := range r.Broken {
		fmt.Fprintf(&text, "broken: %s\n", b)
	}
	if r.Joined >= 0 {
		fmt.Fprintf(&text, "all hosts have joined after %v\n", Short(r.Joined))
	}
	return text.String()
}

// Rules are what the rules remember of a run.
type Rules struct {
	Two, Bare, Idle, Addresses, Back map[string]*Watch

	once []string
}

// Once reports whether it is called with a name for the first time.
func (r *Rules) Once(name string) bool {
	first := !slices.Contains(r.once, name)
	r.once = append(r.once, name)
	return first
}

// Watch measures for how long something is so.
type Watch struct {
	on       bool
	since    time.Duration
	reported bool
}

// Watch is the watch of a name.
func (r *Rules) Watch(of *map[string]*Watch, name string) *Watch {
	if *of == nil {
		*of = map[string]*Watch{}
	}
	if (*of)[name] == nil {
		(*of)[name] = &Watch{}
	}
	return (*of)[name]
}

// Exceeds notes whether something is so, and reports once if it was so for longer than a bound.
func (s *Watch) Exceeds(now time.Duration, is bool, bound time.Duration) bool {
	long := s.on && !s.reported && now-s.since > bound
	s.reported = s.reported || long
	if is && !s.on {
		s.since, s.reported = now, false
	}
	s.on = is
	return long
}
