// Package figures has what failures cost the clients of a cluster, as lines of a file that tests write
// and the bench reads.
package figures

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"
)

// The variables of a test's environment.
const (
	File  = "ONPREM_INFRA_FIGURES"       // that gets the lines; none without it
	Times = "ONPREM_INFRA_FIGURES_TIMES" // repetitions of each scenario, 10 without it
	Only  = "ONPREM_INFRA_FIGURES_ONLY"  // regular expression of the scenarios, all without it
	Load  = "ONPREM_INFRA_FIGURES_LOAD"  // how long there is a load, 10m without it
	Rest  = "ONPREM_INFRA_FIGURES_REST"  // how long nothing happens, 1m without it
)

// Last is the figure of most scenarios: when the last client began that failed, after the fault, and 0 if none did.
const Last = "last failed"

// Line is a scenario under a profile. Times are in milliseconds.
type Line struct {
	Profile  string  `json:"profile"`
	Scenario string  `json:"scenario"`
	Figure   string  `json:"figure"`
	Runs     int     `json:"runs"`
	MinMs    float64 `json:"min_ms"`
	MedianMs float64 `json:"median_ms"`
	MaxMs    float64 `json:"max_ms"`
	Failed   int     `json:"failed"` // clients, in all runs
	Requests int     `json:"requests"`
	BoundMs  int     `json:"bound_ms"` // as computed; 0 for nobody fails

	FailedMax int     `json:"failed_max"`                // in one run
	Lost      int     `json:"sessions_lost,omitempty"`   // with routers, where that is the scenario
	Seconds   float64 `json:"seconds,omitempty"`         // of a load, or at rest
	CPU       float64 `json:"cpu_percent,omitempty"`     // of a core
	RSS       int     `json:"rss_kb,omitempty"`          // of all processes
	Excused   int     `json:"clients_excused,omitempty"` // beside which clients failed that nothing happened to
}

// Sum is what the repetitions of a scenario come to.
type Sum struct {
	Last             []time.Duration // of each
	Failed, Requests []int
	Excused          int // clients in all
}

// Add adds a repetition.
func (s *Sum) Add(last time.Duration, failed, requests int) {
	s.Last, s.Failed, s.Requests = append(s.Last, last), append(s.Failed, failed), append(s.Requests, requests)
}

// Line is the line of them.
func (s Sum) Line(profile, scenario string, bound time.Duration) Line {
	l := Line{Profile: profile, Scenario: scenario, Figure: Last, Runs: len(s.Last), BoundMs: int(bound.Milliseconds()), Excused: s.Excused}
	if len(s.Last) == 0 {
		return l
	}
	last := slices.Sorted(slices.Values(s.Last))
	l.MinMs, l.MaxMs = millis(last[0]), millis(last[len(last)-1])
	l.MedianMs = millis((last[(len(last)-1)/2] + last[len(last)/2]) / 2)
	l.FailedMax = slices.Max(s.Failed)
	for i := range s.Failed {
		l.Failed, l.Requests = l.Failed+s.Failed[i], l.Requests+s.Requests[i]
	}
	return l
}

// millis is a time in milliseconds, with one digit after the point.
func millis(d time.Duration) float64 {
	return float64(d.Round(100*time.Microsecond)) / float64(time.Millisecond)
}

// Write adds a line to the file, and to the test's log.
func Write(t testing.TB, l Line) {
	t.Helper()
	text, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", text)
	name := os.Getenv(File)
	if name == "" {
		return
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(append(text, '\n'))
	if errClose := f.Close(); err != nil || errClose != nil {
		t.Fatal(err, errClose)
	}
}

// Wanted reports whether one of these scenarios is to be measured.
func Wanted(t testing.TB, scenarios ...string) bool {
	t.Helper()
	only, err := regexp.Compile("^(?:" + os.Getenv(Only) + ")$")
	if err != nil {
		t.Fatalf("%s: %v", Only, err)
	}
	return os.Getenv(Only) == "" || slices.ContainsFunc(scenarios, only.MatchString)
}

// Repetitions is how often each scenario is measured.
func Repetitions(t testing.TB) int {
	t.Helper()
	text := os.Getenv(Times)
	if text == "" {
		return 10
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s: %q is no number of repetitions", Times, text)
	}
	return n
}

// Lasts is how long something is to last by a variable.
func Lasts(t testing.TB, variable string, otherwise time.Duration) time.Duration {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		t.Fatalf("%s: %q is no duration", variable, text)
	}
	return d
}
