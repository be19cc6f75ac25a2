package routed

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/rules"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed/schedule"
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

// cells are a row in the table. The row of random schedules has prose instead of numbers.
func (r Row) cells() []string {
	ok := "FAIL"
	if r.OK {
		ok = "ok"
	}
	if r.Scenario == random {
		return []string{r.Scenario, ok, fmt.Sprintf("%d random schedules, %d rules broken", r.Runs,
			len(r.Broken))}
	}
	bound := "-"
	if r.Bound >= 0 {
		bound = fmt.Sprint(r.Bound)
	}
	share := func(percent float64) string { return fmt.Sprintf("%.0f %%", percent) }
	return []string{r.Scenario, ok, share(r.Share), fmt.Sprint(r.Min), fmt.Sprint(r.Median),
		fmt.Sprint(r.Max), fmt.Sprint(r.Dark), bound, fmt.Sprint(r.Inside), share(r.Own),
		share(r.Others)}
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
	fmt.Fprintln(table, strings.Join(Head(), "\t"))
	for _, r := range rows {
		fmt.Fprintln(table, strings.Join(r.cells(), "\t"))
	}
	fmt.Fprint(table, "\n"+Verdict(rows)+"\n")
	_ = table.Flush() // a strings.Builder takes all
	return text.String()
}

// Failures are the broken rules of each scenario, a line each, and below the first one its
// schedule, by which it runs again.
func Failures(c schedule.Cluster, rows []Row) (lines []string) {
	for _, r := range rows {
		for i, b := range r.Broken {
			lines = append(lines, r.Scenario+": "+b)
			var seed uint64
			at := strings.LastIndex(b, "(seed ")
			if _, err := fmt.Sscanf(b[max(0, at):], "(seed %d)", &seed); err == nil && i == 0 {
				lines = append(lines, "simulate --schedule FILE runs it again, with this in "+
					"FILE:\n"+r.replay(c, seed).String())
			}
		}
	}
	return lines
}

// replay is the schedule of a run of the row.
func (r Row) replay(c schedule.Cluster, seed uint64) schedule.Schedule {
	if s, ok := Find(r.Scenario); ok {
		run, _ := s.schedule(c, seed)
		return run
	}
	_, run := schedule.Trial(seed, c)
	return run
}

// ForSchedule is the cluster with a bootstrap machine if a schedule names one, and clients.
func ForSchedule(c schedule.Cluster, s schedule.Schedule) (schedule.Cluster, error) {
	for _, f := range s.Faults {
		c.Bootstrap = c.Bootstrap || f.Kind == schedule.Join ||
			strings.HasPrefix(f.Of, schedule.BootstrapName)
	}
	c.Flows = flows()
	return c, s.Check(c)
}
