package simulate

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
)

// Head are the names of the columns.
func Head() []string {
	return []string{
		"scenario", "ok?", "min", "mid", "max", "bound", "last", "none", "two", "failed", "VIP",
	}
}

// Legend explains the columns.
func Legend() string {
	return fmt.Sprintf("Times are in ms. min, mid (the median), max: the longest wait of a "+
		"client that asks every %d ms, so that it measures an outage with a grain of %d ms; "+
		"bound: of the plan; ok?: FAIL if max is above bound and grain or a rule is broken; "+
		"last: from the fault to the last request that fails; none, two: the longest time with "+
		"no holder and with dual holders; failed: requests of all runs; VIP: its holders in the "+
		"run of max.",
		ms(schedule.ClientPace), ms(grain))
}

// Cells are the row in the table. The row of random schedules has prose instead of numbers.
func (r Row) Cells() []string {
	ok := "FAIL"
	if r.OK {
		ok = "ok"
	}
	if r.Scenario == random {
		text := fmt.Sprintf("%d random schedules, %d rules broken", r.Runs, len(r.Broken))
		return []string{r.Scenario, ok, text, "", "", "", "", "", "", "", ""}
	}
	bound := "-"
	if r.Bound != nil {
		bound = fmt.Sprint(*r.Bound)
	}
	return []string{
		r.Scenario, ok, fmt.Sprint(r.Min), fmt.Sprint(r.Median), fmt.Sprint(r.Max), bound,
		fmt.Sprint(r.Tail), short(r.None), short(r.Two), fmt.Sprint(r.Failed), r.Path,
	}
}

// PageCells are the row on a page, where prose stands in the last column.
func (r Row) PageCells() []string {
	cells := r.Cells()
	if r.Scenario == random {
		cells[2], cells[len(cells)-1] = "", cells[2]
	}
	return cells
}

// short is a time in ms, with a fraction only where it matters.
func short(ms float64) string {
	if ms >= 100 {
		return fmt.Sprintf("%.0f", ms)
	}
	return fmt.Sprint(ms)
}

// Verdict is the verdict on all rows, in one line.
func Verdict(rows []Row) string {
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

// Table is the rows as text, with their verdict below.
func Table(rows []Row) string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	line := func(cells []string) {
		for len(cells) > 1 && cells[len(cells)-1] == "" {
			cells = cells[:len(cells)-1] // the last cell widens no column
		}
		fmt.Fprintln(table, strings.Join(cells, "\t"))
	}
	line(Head())
	for _, r := range rows {
		line(r.Cells())
	}
	fmt.Fprint(table, "\n"+Verdict(rows)+"\n")
	_ = table.Flush() // a strings.Builder takes all
	return text.String()
}

// printed is how many broken rules of one scenario are printed for a person; JSON has them all.
const printed = 3

// Failures are the first broken rules of each scenario, a line each.
func Failures(rows []Row) (lines []string) {
	for _, r := range rows {
		for _, b := range r.Broken[:min(printed, len(r.Broken))] {
			lines = append(lines, r.Scenario+": "+b)
		}
		if more := len(r.Broken) - printed; more > 0 {
			lines = append(lines, fmt.Sprintf("%s: %d more of the like", r.Scenario, more))
		}
	}
	return lines
}
