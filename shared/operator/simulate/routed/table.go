package routed

import (
	"fmt"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/rules"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/table"
)

// Head are the names of the columns.
func Head() []string {
	return []string{"scenario", "ok?", "share", "min", "mid", "max", "dark", "bound", "racks",
		"own", "others"}
}

// Legend explains the columns.
func Legend() string {
	return "Times are in ms. share: of the clients, that failed at one time, at most; min, mid " +
		"(the median), max: from the fault until no client behind the fabric failed any more; " +
		"dark: the longest time in which one of them failed; bound: the plan's, of dark; racks: " +
		"dark of clients in the racks, whose routers may wait for those above them; own: long " +
		"connections that broke as their host failed or left; others: those that broke though " +
		"their host went on serving, as routers without resilient hashing spread all of them " +
		"anew; ok?: FAIL if dark is above the bound or a rule is broken. The rules: " +
		strings.Join(rules.All(), "; ") + "."
}

// Line is the row in the table.
func (r Row) Line() table.Line {
	l := table.Line{Scenario: r.Scenario, Runs: r.Runs, OK: r.OK, Broken: r.Broken}
	if r.Scenario == Random {
		return table.Random(l)
	}
	bound := "-"
	if r.Bound >= 0 {
		bound = fmt.Sprint(r.Bound)
	}
	share := func(percent float64) string { return fmt.Sprintf("%.0f %%", percent) }
	l.Cells = []string{share(r.Share), fmt.Sprint(r.Min), fmt.Sprint(r.Median), fmt.Sprint(r.Max),
		fmt.Sprint(r.Dark), bound, fmt.Sprint(r.Inside), share(r.Own), share(r.Others)}
	return l
}

// Lines are rows in the table.
func Lines(rows []Row) (all []table.Line) {
	for _, r := range rows {
		all = append(all, r.Line())
	}
	return all
}

// Table is the rows as text in so many columns, with their verdict below.
func Table(columns int, rows []Row) string {
	lines := Lines(rows)
	return table.Text(columns, Head(), lines, table.Verdict(lines, table.Within(lines)))
}

// Failures are the first broken rules of each scenario, and their schedules.
func Failures(c schedule.Cluster, rows []Row) []string {
	return table.Failures(Lines(rows), "", func(l table.Line, seed uint64) (fmt.Stringer, bool) {
		if s, ok := Find(l.Scenario); ok {
			return s.Schedule(c, seed)
		}
		_, run := schedule.Trial(seed, c)
		return run, true
	})
}

// ForSchedule is the cluster with a bootstrap machine if a schedule names one, and clients.
func ForSchedule(c schedule.Cluster, s schedule.Schedule) (schedule.Cluster, error) {
	for _, f := range s.Faults {
		c.Bootstrap = c.Bootstrap || f.Kind == schedule.Join ||
			strings.HasPrefix(f.Host, schedule.BootstrapName)
	}
	c.Flows = Flows()
	return c, c.Check(s)
}
