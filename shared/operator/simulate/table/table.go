// Package table prints what came of simulated scenarios: a row for each of them, the verdict on
// all, and the rules that were broken, each with the schedule by which it runs again.
package table

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
)

// Line is the row of a scenario, or of all random schedules.
type Line struct {
	Scenario string
	Runs     int
	OK       bool
	Broken   []string
	// Cells are those after the scenario and its verdict. Prose must be the only cell: the last
	// cell of a row widens no column.
	Cells []string
}

// cells are all cells.
func (l Line) cells() []string {
	ok := "FAIL"
	if l.OK {
		ok = "ok"
	}
	return append([]string{l.Scenario, ok}, l.Cells...)
}

// Random is the line of random schedules, which has prose instead of numbers.
func Random(l Line) Line {
	l.Cells = []string{fmt.Sprintf("%d random schedules, %d rules broken", l.Runs, len(l.Broken))}
	return l
}

// PageCells are a line's cells on a page, below a head. Prose stands in the last column.
func PageCells(head []string, l Line) []string {
	cells := l.cells()
	last := len(cells) - 1
	for len(cells) < len(head) {
		cells = append(cells, "")
	}
	cells[last], cells[len(cells)-1] = cells[len(cells)-1], cells[last]
	return cells
}

// Verdict is one verdict on all lines; good is its text if none has failed.
func Verdict(lines []Line, good string) string {
	var failed []string
	for _, l := range lines {
		if !l.OK {
			failed = append(failed, l.Scenario)
		}
	}
	if len(failed) > 0 {
		return fmt.Sprintf("FAIL: %d of %d: %s", len(failed), len(lines),
			strings.Join(failed, ", "))
	}
	return "ok: " + good
}

// Within is Verdict's good text for lines that the bounds of a plan apply to.
func Within(lines []Line) string {
	return fmt.Sprintf("%d of %d within their bounds, no rule broken", len(lines), len(lines))
}

// Text is the lines below their head, and the verdict, in so many columns. If one of the lines is
// wider, the names of scenarios stand above their lines.
func Text(columns int, head []string, lines []Line, verdict string) string {
	rows := [][]string{head}
	for _, l := range lines {
		rows = append(rows, l.cells())
	}
	width := layout.Width(columns)
	text := aligned(rows)
	if width.Narrow(text) != text {
		text = width.Narrow(named(rows))
	}
	return text + width.Narrow("\n"+verdict+"\n")
}

// aligned are rows in columns.
func aligned(rows [][]string) string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	_ = table.Flush() // a strings.Builder takes all
	return text.String()
}

// named are rows in columns without their first cells, which are above them.
func named(rows [][]string) string {
	var rest [][]string
	for _, row := range rows {
		rest = append(rest, row[1:])
	}
	var text strings.Builder
	i := 0
	for line := range strings.Lines(aligned(rest)) {
		text.WriteString(rows[i][0] + "\n  " + line)
		i++
	}
	return text.String()
}

// printed is how many broken rules of one scenario are printed for a person; JSON has them all.
const printed = 3

// Again is the schedule of a run of a line, by its seed, if it alone repeats the run.
type Again func(l Line, seed uint64) (s fmt.Stringer, ok bool)

// Failures are the first broken rules of each line, and below the first one its schedule; again is
// nil for none. Flags are those of simulate besides --schedule.
func Failures(lines []Line, flags string, again Again) []string {
	var all []string
	for _, l := range lines {
		for i, b := range l.Broken[:min(printed, len(l.Broken))] {
			all = append(all, l.Scenario+": "+b)
			var seed uint64
			at := strings.LastIndex(b, "seed ")
			_, err := fmt.Sscanf(b[max(0, at):], "seed %d)", &seed)
			if err != nil || i > 0 || again == nil {
				continue
			}
			if s, ok := again(l, seed); ok {
				all = append(all, fmt.Sprintf("simulate %s--schedule FILE runs it again, with "+
					"this in FILE:\n%s", flags, s))
			}
		}
		if more := len(l.Broken) - printed; more > 0 {
			all = append(all, fmt.Sprintf("%s: %d more of the like", l.Scenario, more))
		}
	}
	return all
}
