package provisioning

import (
	"fmt"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/rules"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/table"
)

// Head are the names of the columns.
func Head() []string {
	return []string{"scenario", "ok?", "min", "mid", "max", "nodes", "silence", "wasted", "named"}
}

// Legend explains the columns.
func Legend() string {
	return "Times are in seconds. min, mid (the median), max: until all hosts have joined, in " +
		"the runs in which they do; nodes: until the control plane has, at most; silence: the " +
		"longest time in which a host asked for an address and got none; wasted: boots from the " +
		"network that led to nothing, of one run at most; named: runs that ended with a host " +
		"that needs a person, with its reason; ok?: FAIL if a rule is broken. The rules: " +
		strings.Join(rules.All(), "; ") + "."
}

// Lines are rows in the table.
func Lines(rows []Row) (all []table.Line) {
	number := func(seconds float64) string { return fmt.Sprintf("%.0f", seconds) }
	for _, r := range rows {
		all = append(all, table.Line{Scenario: r.Scenario, Runs: r.Runs, OK: r.OK, Broken: r.Broken,
			Cells: []string{number(r.Min), number(r.Median), number(r.Max), number(r.Nodes),
				number(r.Silence), fmt.Sprint(r.Wasted),
				fmt.Sprintf("%d of %d", r.Named, r.Runs)}})
	}
	return all
}

// Table is the rows as text in so many columns, with their verdict below.
func Table(columns int, rows []Row) string {
	runs := 0
	for _, r := range rows {
		runs += r.Runs
	}
	lines := Lines(rows)
	return table.Text(columns, Head(), lines,
		table.Verdict(lines, fmt.Sprintf("%d runs, no rule broken", runs)))
}

// Failures are the first broken rules of each scenario, and their schedules.
func Failures(c schedule.Cluster, rows []Row) []string {
	return table.Failures(Lines(rows), "--provisioning ",
		func(l table.Line, seed uint64) (fmt.Stringer, bool) {
			if s, ok := Find(l.Scenario); ok {
				result, ok := s.Run(c, seed)
				return result.Schedule, ok
			}
			return schedule.Random(seed, c), true
		})
}
