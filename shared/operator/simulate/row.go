package simulate

import (
	"fmt"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/engine"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/seeds"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/trace"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/bound"
)

// Row is the result of a scenario, or of all random schedules, as one line of JSON. Times are in
// milliseconds.
type Row struct {
	Profile  string `json:"profile"`
	Scenario string `json:"scenario"`
	Runs     int    `json:"runs"`
	Waits
	Failed    int      `json:"failed"`
	Requests  int      `json:"requests"`
	Two       float64  `json:"dualHolderMaxMs"`
	None      float64  `json:"noHolderMaxMs"`
	Bound     *int     `json:"boundMs"`
	Moves     int      `json:"moves"`
	Path      string   `json:"path"` // of the VIP, in the run with the longest wait
	Grain     int      `json:"grainMs"`
	OK        bool     `json:"ok"`
	Broken    []string `json:"broken"`
	Simulated bool     `json:"simulated"`
}

// Waits are the waits of a client, over all runs.
type Waits struct {
	Min    int `json:"minMs"`
	Median int `json:"medianMs"`
	Max    int `json:"maxMs"`
	Dark   int `json:"darkMaxMs"`
	Tail   int `json:"lastFailedMs"` // from the fault to the last request that failed, at worst
}

// random is the row of all random schedules.
const random = "random"

// grain is by how much a client's measurement may exceed an outage: it sends requests at a fixed
// pace, so that up to one interval before and one after the outage count.
const grain = 2 * schedule.ClientPace

// ms are whole milliseconds.
func ms(d time.Duration) int { return int(d.Round(time.Millisecond).Milliseconds()) }

// tenths are milliseconds with one decimal.
func tenths(d time.Duration) float64 {
	return float64(d.Round(100*time.Microsecond).Microseconds()) / 1000
}

// NewRow compares what a scenario costs with the bound that the plan states for it.
func NewRow(p plan.Plan, o Outcomes) Row {
	for _, b := range p.Timing.Bounds {
		if b.Scenario == o.Scenario {
			return Within(p, o, &b)
		}
	}
	return Within(p, o, nil)
}

// Within compares what a scenario costs with a bound; nil for none.
func Within(p plan.Plan, o Outcomes, b *bound.Bound) Row {
	r := Row{
		Profile: p.Timing.Profile, Scenario: o.Scenario, Runs: o.Runs,
		Waits:  Waits{ms(o.Min), ms(o.Median), ms(o.Max), ms(o.Dark), ms(o.Tail)},
		Failed: o.Failed, Requests: o.Requests, Two: tenths(o.Two), None: tenths(o.None.Max),
		Moves: o.Moves, Path: o.Worst.Path(), Grain: ms(grain), Broken: []string{}, Simulated: true,
	}
	for _, b := range o.Broken {
		r.Broken = append(r.Broken, b.String())
	}
	add := func(format string, got, bound int) {
		format += ", but the plan's bound is %d ms (grain %d ms)"
		r.Broken = append(r.Broken, fmt.Sprintf(format, got, bound, r.Grain))
	}
	if b != nil {
		r.Bound = &b.DarkMs
		if r.Max > b.DarkMs+r.Grain {
			add("a client waits %d ms", r.Max, b.DarkMs)
		}
		if r.Tail > max(b.Ms, b.DarkMs)+r.Grain && o.figure == nil {
			add("a request fails %d ms after the fault", r.Tail, b.Ms)
		}
	}
	r.OK = len(r.Broken) == 0
	return r
}

// Random runs random schedules on all processors. It reports how many it has begun from time to
// time.
func Random(c schedule.Cluster, seed uint64, schedules int, report func(begun int)) Row {
	r := Row{
		Profile: c.Timing.Profile, Scenario: random, Runs: schedules,
		Broken: []string{}, Simulated: true,
	}
	run := func(one uint64) trace.Result { return engine.Run(schedule.Trial(one, c)) }
	seeds.Each(seed, schedules, run, func(one uint64, result trace.Result) {
		for _, b := range result.Broken {
			r.Broken = append(r.Broken, fmt.Sprintf("%v (seed %d)", b, one))
		}
	}, report)
	slices.Sort(r.Broken)
	r.OK = len(r.Broken) == 0
	return r
}
