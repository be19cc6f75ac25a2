package routed

import (
	"fmt"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/engine"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/world"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/seeds"
	"github.com/onprem-infra/onprem-infra/shared/plan/bound"
)

// Row is the result of a scenario, or of all random schedules, as one line of JSON. Times are in
// milliseconds, and shares in percent of the clients.
type Row struct {
	Profile  string `json:"profile"`
	Scenario string `json:"scenario"`
	Runs     int    `json:"runs"`
	// Share is how many clients failed at one time, at most.
	Share float64 `json:"shareMaxPercent"`
	Times
	Bound int `json:"boundMs"` // of Dark; -1 if the plan has none
	// Own are the long connections that broke as their host failed, and Others those of hosts that
	// went on serving; both of all runs.
	Own       float64  `json:"brokenOwnPercent"`
	Others    float64  `json:"brokenOthersPercent"`
	Grain     int      `json:"grainMs"`
	OK        bool     `json:"ok"`
	Broken    []string `json:"broken"`
	Simulated bool     `json:"simulated"`
}

// Times are those in which clients fail.
type Times struct {
	// Min, Median and Max are from the fault until no client behind the fabric failed any more.
	Min    int `json:"minMs"`
	Median int `json:"medianMs"`
	Max    int `json:"maxMs"`
	// Dark is the longest time in which one of these clients failed, and Inside the same of clients
	// in the racks: their router may have to wait for the path of one above it.
	Dark   int `json:"darkMaxMs"`
	Inside int `json:"insideDarkMaxMs"`
}

// Random is the row of all random schedules.
const Random = "random"

func ms(d time.Duration) int { return int(d.Round(time.Millisecond).Milliseconds()) }

// Tally is a row in the making.
type Tally struct {
	row               Row
	last              []time.Duration
	flows, own, other int
}

// NewTally is a row before its first run.
func NewTally(c schedule.Cluster, name string) *Tally {
	return &Tally{row: Row{Profile: c.BGP.Timing.Profile, Scenario: name, Bound: -1,
		Grain: ms(world.Slack), Broken: []string{}, Simulated: true}}
}

// Add counts a run.
func (t *Tally) Add(r world.Result) {
	t.row.Runs++
	if c := r.Cost; c.Flows > 0 {
		t.last = append(t.last, c.Last[0])
		t.row.Share = max(t.row.Share, percent(c.Share, c.Flows))
		t.row.Dark = max(t.row.Dark, ms(c.Dark[0]))
		t.row.Inside = max(t.row.Inside, ms(c.Dark[1]))
		t.flows, t.own, t.other = t.flows+c.Flows, t.own+c.Own, t.other+c.Others
	}
	for _, b := range r.Broken {
		t.row.Broken = append(t.row.Broken, fmt.Sprintf("%v (seed %d)", b, r.Schedule.Seed))
	}
}

func percent(part, of int) float64 {
	const tenths, all = 1e1, 1e3
	return float64(int(all*float64(part)/float64(max(1, of)))) / tenths
}

// Break adds a broken rule that no run added by Add has.
func (t *Tally) Break(text string) { t.row.Broken = append(t.row.Broken, text) }

// Done is the row.
func (t *Tally) Done() Row {
	slices.Sort(t.row.Broken)
	if slices.Sort(t.last); len(t.last) > 0 {
		t.row.Min, t.row.Max = ms(t.last[0]), ms(t.last[len(t.last)-1])
		t.row.Median = ms(t.last[len(t.last)/2])
	}
	t.row.Own, t.row.Others = percent(t.own, t.flows), percent(t.other, t.flows)
	t.row.OK = len(t.row.Broken) == 0
	return t.row
}

// Within compares what a scenario costs clients behind the fabric with a bound.
func (t *Tally) Within(b bound.Bound) {
	t.row.Bound = b.DarkMs
	if t.row.Dark > b.DarkMs+t.row.Grain {
		t.row.Broken = append(t.row.Broken, fmt.Sprintf("a client fails for %d ms, but the "+
			"plan's bound is %d ms (grain %d ms)", t.row.Dark, b.DarkMs, t.row.Grain))
	}
	if last := ms(slices.Max(append(t.last, 0))); last > max(b.Ms, b.DarkMs)+t.row.Grain {
		t.row.Broken = append(t.row.Broken, fmt.Sprintf("a client fails %d ms after the "+
			"fault, but the plan's bound is %d ms (grain %d ms)", last, b.Ms, t.row.Grain))
	}
}

// Measure runs a scenario runs times, with consecutive seeds from seed on; ok is false if the
// cluster lacks what the scenario is about.
func Measure(s Scenario, c schedule.Cluster, seed uint64, runs int) (row Row, ok bool) {
	t := NewTally(c, s.Name)
	for i := range runs {
		r, ok := s.Run(c, seed+uint64(i))
		if !ok {
			return row, false
		}
		t.Add(r)
	}
	for _, b := range c.BGP.Bounds {
		if b.Scenario == s.BoundName() {
			t.Within(b)
		}
	}
	return t.Done(), true
}

// Trials runs random schedules on all processors. It reports how many it has begun from time to
// time.
func Trials(c schedule.Cluster, seed uint64, schedules int, report func(begun int)) Row {
	t := NewTally(c, Random)
	run := func(one uint64) world.Result { return engine.Run(schedule.Trial(one, c)) }
	seeds.Each(seed, schedules, run, func(_ uint64, r world.Result) { t.Add(r) }, report)
	return t.Done()
}
