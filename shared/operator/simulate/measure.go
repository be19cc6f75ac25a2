package simulate

import (
	"fmt"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/trace"
)

// Outcomes are what came of many runs of a scenario.
type Outcomes struct {
	Scenario string
	About    string
	Runs     int

	Wait                            // the longest wait of the client, or the scenario's figure
	Dark             time.Duration  // the sum of the client's waits over 100 ms, of the worst run
	Failed, Requests int            // after the fault, over all runs
	Refused          int            // of the failed ones: refused or late, not cut by the move
	Tail             time.Duration  // the longest time from a fault to a request that failed
	Two              time.Duration  // the longest time with two holders
	None             Wait           // the longest time without a holder
	Moves            int            // of the VIP, in the run with the most
	Broken           []trace.Broken // with the seed in its text
	Worst            trace.Result   // the run of Max

	runs
}

// runs are the times of each run.
type runs struct {
	// figure is a run's value for Wait, which About describes; nil for the client's longest wait.
	figure        func(trace.Result) (time.Duration, bool)
	figures, none []time.Duration
}

// Wait is the range of a time over many runs.
type Wait struct{ Min, Median, Max time.Duration }

func waitOf(all []time.Duration) Wait {
	slices.Sort(all)
	return Wait{all[0], all[len(all)/2], all[len(all)-1]}
}

// Measure runs a scenario runs times, at least once, with consecutive seeds from seed on.
func Measure(s Scenario, c schedule.Cluster, seed uint64, runs int) Outcomes {
	o := s.Begin()
	for i := range runs {
		o.Add(s.Run(c, seed+uint64(i)))
	}
	return o.Done()
}

// Begin are the outcomes of a scenario before its first run. Those of the zero Scenario are about
// the client's longest wait.
func (s Scenario) Begin() *Outcomes {
	return &Outcomes{Scenario: s.Name, About: s.About, runs: runs{figure: s.figure}}
}

// Add counts a run.
func (o *Outcomes) Add(r trace.Result) {
	o.Runs++
	figure, ok := r.LongestGap(), true
	if o.figure != nil {
		figure, ok = o.figure(r)
	}
	if !ok {
		r.Broken = append(r.Broken, trace.Broken{
			Rule: "the scenario comes to its end", Why: "its figure was not reached",
		})
	}
	if len(o.figures) == 0 || figure > slices.Max(o.figures) {
		o.Worst = r
	}
	o.figures = append(o.figures, figure)
	o.none = append(o.none, r.Longest(func(n int) bool { return n == 0 }))
	o.add(r)
}

// Done are the outcomes of all runs.
func (o *Outcomes) Done() Outcomes {
	o.Wait, o.None = waitOf(o.figures), waitOf(o.none)
	return *o
}

// add sums a run up.
func (o *Outcomes) add(r trace.Result) {
	for _, b := range r.Broken {
		b.Why = fmt.Sprintf("%s (%s, seed %d)", b.Why, o.Scenario, r.Schedule.Seed)
		o.Broken = append(o.Broken, b)
	}
	from := r.FirstFault()
	for _, q := range r.Requests {
		if q.At < from {
			continue
		}
		o.Requests++
		if q.Outcome != trace.Served {
			o.Failed++
			o.Tail = max(o.Tail, q.At-from)
		}
		if q.Outcome == trace.Refused || q.Outcome == trace.Late {
			o.Refused++
		}
	}
	o.Dark = max(o.Dark, r.TotalGap())
	o.Two = max(o.Two, r.Longest(func(n int) bool { return n > 1 }))
	o.Moves = max(o.Moves, r.Moves())
}

// coldStart is the time from when the first master's API server serves to its redirect.
func coldStart(r trace.Result) (time.Duration, bool) {
	serves := time.Duration(-1)
	for _, n := range r.Notes {
		switch {
		case n.Text == "API serves" && serves < 0:
			serves = n.At
		case n.Text == "redirect on" && serves >= 0:
			return n.At - serves, true
		}
	}
	return 0, false
}
