package table

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

type text string

func (t text) String() string { return string(t) }

// TestText holds that prose widens no column, and that the verdict names what has failed.
func TestText(t *testing.T) {
	lines := []Line{{Scenario: "a", OK: true, Cells: []string{"1", "2"}}, Random(Line{Scenario: "random", Runs: 7, Broken: []string{"b", "c"}})}
	got := Text(80, []string{"scenario", "ok?", "x", "y"}, lines, Verdict(lines, Within(lines)))
	want := "scenario  ok?   x  y\na         ok    1  2\nrandom    FAIL  7 random schedules, 2 rules broken\n\nFAIL: 1 of 2: random\n"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if good := Verdict(lines[:1], Within(lines[:1])); good != "ok: 1 of 1 within their bounds, no rule broken" {
		t.Error(good)
	}
	if got := PageCells([]string{"", "", "", "", ""}, lines[1]); !slices.Equal(got, []string{"random", "FAIL", "", "", "7 random schedules, 2 rules broken"}) {
		t.Errorf("%q", got)
	}
	if got := PageCells([]string{"", "", "", ""}, lines[0]); !slices.Equal(got, []string{"a", "ok", "1", "2"}) {
		t.Errorf("%q", got)
	}
}

// TestText_Narrow holds that each line fits a terminal: the names of scenarios stand above their rows if those do
// not fit, and where that is not enough the rows are folded.
func TestText_Narrow(t *testing.T) {
	head := []string{"scenario", "ok?", "min", "mid", "max", "bound", "last", "none", "two", "failed", "VIP"}
	lines := []Line{
		{Scenario: "bgp-path-length-ignored", OK: true, Cells: []string{"4520", "4520", "4520", "5103", "10735", "75.7", "330", "451", "bootstrap → master-0"}},
		Random(Line{Scenario: "random", Runs: 20, Broken: []string{strings.Repeat("x", 90)}}),
	}
	verdict := Verdict([]Line{{Scenario: strings.Repeat("a", 40)}, {Scenario: strings.Repeat("b", 40)}}, "")
	for columns, want := range map[int]string{
		120: "scenario                 ok?   min   mid   max   bound  last   none  two  failed  VIP\nbgp-path-length-ignored  ok    4520  ",
		80:  "scenario\n  ok?   min   mid   max   bound  last   none  two  failed  VIP\nbgp-path-length-ignored\n  ok    4520  ",
		60:  "scenario\n  ok? min mid max bound last none two failed VIP\nbgp-path-length-ignored\n  ok 4520 ",
	} {
		got := Text(columns, head, lines, verdict)
		if !strings.HasPrefix(got, want) || !strings.Contains(got, "20 random schedules, 1 rules broken\n") || strings.Count(got, "FAIL: ") != 1 {
			t.Errorf("%d columns:\n%s\nwant\n%s", columns, got, want)
		}
		for line := range strings.Lines(got) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > columns {
				t.Errorf("%d columns where there are %d: %s", n, columns, line)
			}
		}
	}
}

// TestFailures holds that the first ones are printed, with the schedule of the first if it repeats that.
func TestFailures(t *testing.T) {
	lines := []Line{{Scenario: "a", Broken: []string{"w (seed 4)", "x (seed 5)", "y (a, seed 6)", "z (seed 7)"}}, {Scenario: "b", Broken: []string{"v (b, seed 8)"}}, {Scenario: "c", Broken: []string{"no number"}}, {Scenario: "d", OK: true}}
	got := strings.Join(Failures(lines, "--f ", func(l Line, seed uint64) (fmt.Stringer, bool) {
		return text(fmt.Sprint("of ", l.Scenario, seed)), l.Scenario == "a"
	}), "|")
	want := "a: w (seed 4)|simulate --f --schedule FILE runs it again, with this in FILE:\nof a4|a: x (seed 5)|a: y (a, seed 6)|a: 1 more of the like|b: v (b, seed 8)|c: no number"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := Failures(lines[1:2], "", nil); !slices.Equal(got, []string{"b: v (b, seed 8)"}) {
		t.Error(got)
	}
}
