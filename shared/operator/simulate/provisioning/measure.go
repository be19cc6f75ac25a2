package provisioning

import (
	"fmt"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/engine"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/world"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/seeds"
)

// Row is the result of a scenario, or of all random schedules, as one line of JSON.
type Row struct {
	Scenario string `json:"scenario"`
	Runs     int    `json:"runs"`
	// Min, Median and Max are seconds until all hosts have joined, of the runs in which they do.
	Min       float64 `json:"minSeconds"`
	Median    float64 `json:"medianSeconds"`
	Max       float64 `json:"maxSeconds"`
	Nodes     float64 `json:"nodesMaxSeconds"` // the same of the control plane, at most
	Silence   float64 `json:"silenceMaxSeconds"`
	Wasted    int     `json:"wastedBootsMax"`
	Rewritten int     `json:"rewritten"`
	TakenBack int     `json:"takenBack"`
	// Named are the runs that ended with a host that needs a person.
	Named     int      `json:"named"`
	OK        bool     `json:"ok"`
	Broken    []string `json:"broken"`
	Simulated bool     `json:"simulated"`
}

// random is the row of all random schedules.
const random = "random"

// tally is a row in the making.
type tally struct {
	row  Row
	ends []time.Duration
}

func newTally(name string) *tally {
	return &tally{row: Row{Scenario: name, Broken: []string{}, Simulated: true}}
}

func seconds(d time.Duration) float64 { return float64(world.Short(d).Milliseconds()) / 1000 }

// add counts a run.
func (t *tally) add(r world.Result) {
	row := &t.row
	row.Runs++
	if r.Joined >= 0 {
		t.ends = append(t.ends, r.Joined)
	}
	row.Nodes = max(row.Nodes, seconds(r.Nodes))
	row.Silence = max(row.Silence, seconds(r.Silence))
	row.Wasted, row.Rewritten = max(row.Wasted, r.Wasted), row.Rewritten+r.Rewritten
	row.TakenBack += r.TakenBack
	if len(r.Blocked) > 0 {
		row.Named++
	}
	for _, b := range r.Broken {
		row.Broken = append(row.Broken, fmt.Sprintf("%v (seed %d)", b, r.Schedule.Seed))
	}
}

// done is the row.
func (t *tally) done() Row {
	if slices.Sort(t.ends); len(t.ends) > 0 {
		t.row.Min, t.row.Median = seconds(t.ends[0]), seconds(t.ends[len(t.ends)/2])
		t.row.Max = seconds(t.ends[len(t.ends)-1])
	}
	slices.Sort(t.row.Broken)
	t.row.OK = len(t.row.Broken) == 0
	return t.row
}

// Measure runs a scenario runs times, with consecutive seeds from seed on; ok is false if the
// cluster lacks what the scenario is about.
func Measure(s Scenario, c schedule.Cluster, seed uint64, runs int) (row Row, ok bool) {
	t := newTally(s.Name)
	for i := range runs {
		r, ok := s.Run(c, seed+uint64(i))
		if !ok {
			return row, false
		}
		t.add(r)
	}
	return t.done(), true
}

// Random runs random schedules on all processors. It reports how many it has begun from time to
// time.
func Random(c schedule.Cluster, seed uint64, schedules int, report func(begun int)) Row {
	t := newTally(random)
	run := func(one uint64) world.Result { return engine.Run(c, schedule.Random(one, c)) }
	seeds.Each(seed, schedules, run, func(_ uint64, r world.Result) { t.add(r) }, report)
	return t.done()
}
