package provisioning

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/rules"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/schedule"
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

// cells are a row in the table.
func (r Row) cells() []string {
	ok := "FAIL"
	if r.OK {
		ok = "ok"
	}
	number := func(seconds float64) string { return fmt.Sprintf("%.0f", seconds) }
	return []string{r.Scenario, ok, number(r.Min), number(r.Median), number(r.Max), number(r.Nodes),
		number(r.Silence), fmt.Sprint(r.Wasted), fmt.Sprintf("%d of %d", r.Named, r.Runs)}
}

// Verdict is the verdict on all rows, in one line.
func Verdict(rows []Row) string {
	var failed []string
	runs := 0
	for _, r := range rows {
		runs += r.Runs
		if !r.OK {
			failed = append(failed, r.Scenario)
		}
	}
	if len(failed) > 0 {
		return fmt.Sprintf("FAIL: %d of %d: %s", len(failed), len(rows), strings.Join(failed, ", "))
	}
	return fmt.Sprintf("ok: %d runs, no rule broken", runs)
}

// Table is the rows as text, with their verdict below.
func Table(rows []Row) string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, strings.Join(Head(), "\t"))
	for _, r := range rows {
		fmt.Fprintln(table, strings.Join(r.cells(), "\t"))
	}
	fmt.Fprint(table, "\n"+Verdict(rows)+"\n")
	_ = table.Flush() // a strings.Builder takes all
	return text.String()
}

// Failures are the broken rules of each scenario, a line each, and below the first one of random
// schedules its schedule, by which it runs again.
func Failures(c schedule.Cluster, rows []Row) (lines []string) {
	for _, r := range rows {
		for i, b := range r.Broken {
			lines = append(lines, r.Scenario+": "+b)
			var seed uint64
			at := strings.LastIndex(b, "(seed ")
			if _, err := fmt.Sscanf(b[max(0, at):], "(seed %d)", &seed); err == nil && i == 0 {
				lines = append(lines, "simulate --provisioning --schedule FILE runs it again, "+
					"with this in FILE:\n"+r.replay(c, seed).String())
			}
		}
	}
	return lines
}

// replay is the schedule of a run of the row.
func (r Row) replay(c schedule.Cluster, seed uint64) schedule.Schedule {
	if s, ok := Find(r.Scenario); ok {
		result, _ := s.Run(c, seed)
		return result.Schedule
	}
	return schedule.Random(seed, c)
}
