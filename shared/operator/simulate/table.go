package simulate

import (
	"fmt"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/table"
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

// Line is the row in the table.
func (r Row) Line() table.Line {
	l := table.Line{Scenario: r.Scenario, Runs: r.Runs, OK: r.OK, Broken: r.Broken}
	if r.Scenario == random {
		return table.Random(l)
	}
	bound := "-"
	if r.Bound != nil {
		bound = fmt.Sprint(*r.Bound)
	}
	l.Cells = []string{
		fmt.Sprint(r.Min), fmt.Sprint(r.Median), fmt.Sprint(r.Max), bound, fmt.Sprint(r.Tail),
		short(r.None), short(r.Two), fmt.Sprint(r.Failed), r.Path,
	}
	return l
}

// Lines are rows in the table.
func Lines(rows []Row) (all []table.Line) {
	for _, r := range rows {
		all = append(all, r.Line())
	}
	return all
}

// short is a time in ms, with a fraction only where it matters.
func short(ms float64) string {
	if ms >= 100 {
		return fmt.Sprintf("%.0f", ms)
	}
	return fmt.Sprint(ms)
}

// Table is the rows as text in so many columns, with their verdict below.
func Table(columns int, rows []Row) string {
	lines := Lines(rows)
	return table.Text(columns, Head(), lines, table.Verdict(lines, table.Within(lines)))
}

// Failures are the first broken rules of each scenario. Their clusters are of many sizes.
func Failures(rows []Row) []string { return table.Failures(Lines(rows), "", nil) }
