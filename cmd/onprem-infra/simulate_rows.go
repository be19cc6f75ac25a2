package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/simulate"
)

// row is what the verb says of a scenario, or of all schedules by chance, as one line of JSON. Times are in milliseconds.
type row struct {
	Profile   string   `json:"profile"`
	Scenario  string   `json:"scenario"`
	Runs      int      `json:"runs"`
	Min       int      `json:"minMs"`
	Median    int      `json:"medianMs"`
	Max       int      `json:"maxMs"`
	Dark      int      `json:"darkMaxMs"`
	Tail      int      `json:"lastFailedMs"` // from the fault to the last request that failed, at worst
	Failed    int      `json:"failed"`
	Requests  int      `json:"requests"`
	Two       float64  `json:"dualHolderMaxMs"`
	None      float64  `json:"noHolderMaxMs"`
	Bound     *int     `json:"boundMs"`
	Moves     int      `json:"moves"`
	Path      string   `json:"path"`
	Broken    []string `json:"broken"`
	Simulated bool     `json:"simulated"`
}

// noise is what programs and the client's own pace take beside what a bound says.
const noise = 60 * time.Millisecond

func newRow(p plan.Plan, o simulate.Outcomes) row {
	ms := func(d time.Duration) int { return int(d.Round(time.Millisecond).Milliseconds()) }
	part := func(d time.Duration) float64 { return float64(d.Round(100*time.Microsecond).Microseconds()) / 1000 }
	r := row{Profile: p.Timing.Profile, Scenario: o.Scenario, Runs: o.Runs, Min: ms(o.Min), Median: ms(o.Median), Max: ms(o.Max), Dark: ms(o.Dark), Tail: ms(o.Tail),
		Failed: o.Failed, Requests: o.Requests, Two: part(o.Two), None: part(o.None), Moves: o.Moves, Path: o.Path, Broken: []string{}, Simulated: true}
	for _, b := range o.Broken {
		r.Broken = append(r.Broken, b.String())
	}
	for _, b := range p.Timing.Bounds {
		if b.Scenario != o.Scenario {
			continue
		}
		r.Bound = &b.DarkMs
		if most := b.DarkMs + ms(noise); r.Max > most {
			r.Broken = append(r.Broken, fmt.Sprintf("somebody waits %d ms, and the plan says %d", r.Max, b.DarkMs))
		}
		if most := max(b.Ms, b.DarkMs) + ms(noise); r.Tail > most && !o.Figure {
			r.Broken = append(r.Broken, fmt.Sprintf("a request fails %d ms after the fault, and the plan says %d", r.Tail, b.Ms))
		}
	}
	return r
}

// byChance plays schedules by chance on all processors.
func byChance(profile string, c simulate.Cluster, seed uint64, schedules int) row {
	r := row{Profile: profile, Scenario: "random", Runs: schedules, Broken: []string{}, Simulated: true}
	seeds := make(chan uint64)
	var mu sync.Mutex
	var crowd sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		crowd.Go(func() {
			for one := range seeds {
				result := simulate.Run(simulate.Trial(one, c))
				mu.Lock()
				for _, b := range result.Broken {
					r.Broken = append(r.Broken, fmt.Sprintf("%v (seed %d)", b, one))
				}
				mu.Unlock()
			}
		})
	}
	for i := range schedules {
		seeds <- seed + uint64(i)
	}
	close(seeds)
	crowd.Wait()
	slices.Sort(r.Broken)
	return r
}

func tableHead() []string {
	return []string{"scenario", "min", "mid", "max", "bound", "last", "none", "two", "failed", "VIP"}
}

// simulateLegend says what the columns are.
func simulateLegend() string {
	return broken("", "", "Times are in ms. min, mid (the median), max: what a client that asks every 10 ms waits for; bound: what the plan says of it; last: from the fault to the last "+
		"request that fails; none, two: how long nobody or two held the VIP, at most; failed: of how many requests.")
}

// cells are a row of the table. Of schedules by chance there is nothing to say but how many broke a rule.
func (r row) cells() []string {
	if r.Scenario == "random" {
		return []string{r.Scenario, fmt.Sprintf("%d schedules by chance, %d rules broken", r.Runs, len(r.Broken)), "", "", "", "", "", "", "", ""}
	}
	bound := "-"
	if r.Bound != nil {
		bound = fmt.Sprint(*r.Bound)
	}
	return []string{r.Scenario, fmt.Sprint(r.Min), fmt.Sprint(r.Median), fmt.Sprint(r.Max), bound, fmt.Sprint(r.Tail), fmt.Sprint(r.None), fmt.Sprint(r.Two),
		fmt.Sprintf("%d/%d", r.Failed, r.Requests), r.Path}
}

// enough is how many rules that one scenario broke are told to a person; JSON has them all.
const enough = 3

// print writes the rows, and what was broken; with one of these the answer is no.
func (s simulation) print(std streams, rows []row) error {
	broken := false
	table := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	enc := json.NewEncoder(std.out)
	enc.SetEscapeHTML(false)
	line := func(cells []string) {
		for len(cells) > 1 && cells[len(cells)-1] == "" {
			cells = cells[:len(cells)-1] // what stands last widens no column
		}
		for i, cell := range cells {
			if i > 0 {
				fmt.Fprint(table, "\t")
			}
			fmt.Fprint(table, cell)
		}
		fmt.Fprintln(table)
	}
	if s.format == "text" {
		line(tableHead())
	}
	for _, r := range rows {
		broken = broken || len(r.Broken) > 0
		if s.format == "text" {
			line(r.cells())
		} else if err := enc.Encode(r); err != nil {
			return err
		}
	}
	if s.format == "text" {
		fmt.Fprint(table, "\n"+simulateLegend())
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if !broken {
		return nil
	}
	for _, r := range rows {
		for _, b := range r.Broken[:min(enough, len(r.Broken))] {
			_ = say(std.err, "onprem-infra: %s: %s\n", r.Scenario, b)
		}
		if more := len(r.Broken) - enough; more > 0 {
			_ = say(std.err, "onprem-infra: %s: %d more of the like\n", r.Scenario, more)
		}
	}
	return negative(nil)
}
