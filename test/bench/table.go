package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// table aligns rows, the first of which are the heads.
func table(title string, rows [][]string) string {
	if len(rows) < 2 {
		return ""
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n\n", title)
	w := tabwriter.NewWriter(&text, 0, 0, 3, ' ', 0)
	for i, row := range rows {
		fmt.Fprintln(w, strings.TrimRight(strings.Join(row, "\t"), "\t"))
		if i == 0 {
			var lines []string
			for _, head := range row {
				lines = append(lines, strings.Repeat("-", len(head)))
			}
			fmt.Fprintln(w, strings.Join(lines, "\t"))
		}
	}
	w.Flush()
	return text.String()
}

// resultNote explains what the columns of results are.
const resultNote = "Outage of a client that opens a connection every 10 ms and waits 200 ms for its answer, in ms; dark: all gaps over 100 ms of one run together;\n" +
	"two: the longest time with two holders; failed: requests that started after the fault; after: those that started after the move, and 2 s after the fault"

// resultTable has the scenarios, each under every profile.
func resultTable(all []result) string { return table(resultNote, resultRows(all)) }

// resultRows are its rows.
func resultRows(all []result) [][]string {
	rows := [][]string{{"scenario", "profile", "min", "median", "max", "target (lan, fast)", "bound", "dark", "two", "moves", "failed", "after", "notes"}}
	for _, sc := range scenarios() {
		first := true
		for _, r := range all {
			if r.Scenario != sc.name {
				continue
			}
			name, target := sc.name, sc.target
			if !first {
				name, target = "", ""
			}
			if r.Profile == vrrp.ProfileFast {
				target = sc.fast
			}
			first = false
			rows = append(rows, []string{
				name, r.Profile, number(r.MinMs), number(r.MedianMs), number(r.MaxMs), target, number(float64(r.BoundMs)), number(r.DarkMax),
				number(r.DualMax), fmt.Sprint(r.Moves), fmt.Sprintf("%d/%d", r.Failed, r.Requests), afterwards(r), notes(sc, r),
			})
		}
	}
	return rows
}

func number(ms float64) string {
	if ms == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f", ms)
}

func afterwards(r result) string { return fmt.Sprintf("%d, %d", r.FailedMoved, r.FailedTwo) }

// notes are what the columns do not show.
func notes(sc scenario, r result) string {
	var list []string
	add := func(yes bool, format string, args ...any) {
		if yes {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	add(r.Figure != outage, "%s", r.Figure)
	add(sc.target == "orderly" || r.Figure == known, "%d of %d orderly", r.Orderly, r.Runs)
	for _, part := range slices.Sorted(maps.Keys(r.Parts)) {
		add(true, "%s %.0f", part, r.Parts[part])
	}
	add(r.MovedMax > 0, "moved after %.0f, at most %.0f", r.MovedMedian, r.MovedMax)
	add(r.FailedBoth > 0 && (r.Figure == outage || r.Figure == lastLate), "%d of those that failed did beside clients who ask another node by its own address, %d of them 2 s after the fault", r.FailedBoth, r.BothTwo)
	add(r.Differs >= 0 && r.Computed > 0, "computed at most %.0f, no holder for %.0f to %.0f", r.Computed, r.ComputedNobody0, r.ComputedNoHolder)
	add(r.Differs > 0, "%d of %d not as computed", r.Differs, r.Runs)
	add(r.Unready > 0, "%d answers of a server about to end", r.Unready)
	add(r.Patient > 0, "%d patient clients failed", r.Patient)
	add(r.Errors > 0, "%d repetitions did not end", r.Errors)
	return strings.Join(list, "; ")
}
