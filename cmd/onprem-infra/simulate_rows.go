package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/progress"
)

// row is what the verb says of a scenario, or of all schedules by chance, as one line of JSON.
// Times are in milliseconds.
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
	Path      string   `json:"path"` // of the VIP, in the run with the longest wait
	Grain     int      `json:"grainMs"`
	OK        bool     `json:"ok"`
	Broken    []string `json:"broken"`
	Simulated bool     `json:"simulated"`
}

// grain is how much longer than an outage a client measures it that asks at a fixed pace: up to one
// interval before it and one after it.
const grain = 2 * simulate.ClientPace

func newRow(p plan.Plan, o simulate.Outcomes) row {
	ms := func(d time.Duration) int { return int(d.Round(time.Millisecond).Milliseconds()) }
	part := func(d time.Duration) float64 { return float64(d.Round(100*time.Microsecond).Microseconds()) / 1000 }
	r := row{Profile: p.Timing.Profile, Scenario: o.Scenario, Runs: o.Runs, Min: ms(o.Min), Median: ms(o.Median), Max: ms(o.Max), Dark: ms(o.Dark), Tail: ms(o.Tail),
		Failed: o.Failed, Requests: o.Requests, Two: part(o.Two), None: part(o.None), Moves: o.Moves, Path: o.Worst.Path(), Grain: ms(grain), Broken: []string{}, Simulated: true}
	for _, b := range o.Broken {
		r.Broken = append(r.Broken, b.String())
	}
	for _, b := range p.Timing.Bounds {
		if b.Scenario != o.Scenario {
			continue
		}
		r.Bound = &b.DarkMs
		if most := b.DarkMs + ms(grain); r.Max > most {
			r.Broken = append(r.Broken, fmt.Sprintf("a client waits %d ms, but the plan's bound is %d ms (grain %d ms)", r.Max, b.DarkMs, r.Grain))
		}
		if most := max(b.Ms, b.DarkMs) + ms(grain); r.Tail > most && !o.Figure {
			r.Broken = append(r.Broken, fmt.Sprintf("a request fails %d ms after the fault, but the plan's bound is %d ms (grain %d ms)", r.Tail, b.Ms, r.Grain))
		}
	}
	r.OK = len(r.Broken) == 0
	return r
}

// byChance plays schedules by chance on all processors.
func byChance(profile string, c simulate.Cluster, seed uint64, schedules int, line *progress.Line) row {
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
		if i%500 == 0 {
			line.Step("random schedules: %d of %d", i, schedules)
		}
		seeds <- seed + uint64(i)
	}
	close(seeds)
	crowd.Wait()
	slices.Sort(r.Broken)
	r.OK = len(r.Broken) == 0
	return r
}

func tableHead() []string {
	return []string{"scenario", "ok?", "min", "mid", "max", "bound", "last", "none", "two", "failed", "VIP"}
}

// simulateLegend says what the columns are.
func simulateLegend() string {
	return broken("", "", fmt.Sprintf("Times are in ms. min, mid (the median), max: the longest wait of a client that asks every %d ms, so that it "+
		"measures an outage with a grain of %d ms; bound: of the plan; ok?: FAIL if max is above bound and grain or a rule is broken; last: from the "+
		"fault to the last request that fails; none, two: the longest time with no holder and with dual holders; failed: requests of all runs; "+
		"VIP: its holders in the run of max.", simulate.ClientPace.Milliseconds(), grain.Milliseconds()))
}

// cells are a row of the table. Of schedules by chance there is nothing to say but how many broke a
// rule.
func (r row) cells() []string {
	if r.Scenario == "random" {
		return []string{r.Scenario, r.verdict(), fmt.Sprintf("%d random schedules, %d rules broken", r.Runs, len(r.Broken)), "", "", "", "", "", "", "", ""}
	}
	bound := "-"
	if r.Bound != nil {
		bound = fmt.Sprint(*r.Bound)
	}
	return []string{r.Scenario, r.verdict(), fmt.Sprint(r.Min), fmt.Sprint(r.Median), fmt.Sprint(r.Max), bound, fmt.Sprint(r.Tail), short(r.None), short(r.Two),
		fmt.Sprint(r.Failed), r.Path}
}

// short is a time in ms with a fraction only where it matters.
func short(ms float64) string {
	if ms >= 100 {
		return fmt.Sprintf("%.0f", ms)
	}
	return fmt.Sprint(ms)
}

// pageCells are the row on a page, where prose goes into the last column: the others hold numbers.
func (r row) pageCells() []string {
	cells := r.cells()
	if r.Scenario == "random" {
		cells[2], cells[len(cells)-1] = "", cells[2]
	}
	return cells
}

func (r row) verdict() string {
	if r.OK {
		return "ok"
	}
	return "FAIL"
}

// verdict is the answer about all rows, in a line.
func verdict(rows []row) string {
	var failed []string
	for _, r := range rows {
		if !r.OK {
			failed = append(failed, r.Scenario)
		}
	}
	if len(failed) > 0 {
		return fmt.Sprintf("FAIL: %d of %d: %s", len(failed), len(rows), strings.Join(failed, ", "))
	}
	return fmt.Sprintf("ok: %d of %d within their bounds, no rule broken", len(rows), len(rows))
}

// enough is how many rules that one scenario broke are told to a person; JSON has them all.
const enough = 3

// print writes the rows, and what was broken; with one of these the answer is no.
func (s simulation) print(std streams, rows []row) error {
	broken := false
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
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
		broken = broken || !r.OK
		if s.format == "text" {
			line(r.cells())
		} else if err := enc.Encode(r); err != nil {
			return err
		}
	}
	if s.format == "text" {
		fmt.Fprint(table, "\n"+verdict(rows)+"\n\n"+simulateLegend())
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if _, err := io.WriteString(std.out, coloured(std.out, text.String())); err != nil {
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
