package layout

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestTable holds that a table fits a terminal, whatever is in it.
func TestTable(t *testing.T) {
	long := strings.Repeat("abcd ", 30)
	for _, tt := range []struct {
		name string
		head []string
		rows [][]string
		want string
	}{
		{"narrow", []string{"A", "LONG", "C"}, [][]string{{"x", "y", "z"}, {"xx", "ü", ""}}, "A   LONG  C\nx   y     z\nxx  ü\n"},
		{"words that go on", []string{"A", "B"}, [][]string{{strings.Repeat("x", 70), "some words that do not fit there at all"}},
			"A" + strings.Repeat(" ", 71) + "B\n" + strings.Repeat("x", 70) + "  some words that do not fit\n" + strings.Repeat(" ", 72) + "there at all\n"},
		{"too wide", []string{"A", "HELD", "B"}, [][]string{{strings.Repeat("x", 50), strings.Repeat("y", 50), "z"}, {"x", "y", ""}},
			"A " + strings.Repeat("x", 50) + "\n    HELD  " + strings.Repeat("y", 50) + "\n    B     z\nA x\n    HELD  y\n"},
		{"too wide, with words", []string{"A", "B", "C"}, [][]string{{strings.Repeat("x", 50), strings.Repeat("y", 50), long}},
			"A " + strings.Repeat("x", 50) + "\n    B  " + strings.Repeat("y", 50) + "\n    C  " + strings.TrimSpace(long[:90]) + "\n       " + strings.TrimSpace(long[90:]) + "\n"},
	} {
		got := usual.Table(tt.head, tt.rows)
		if got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
		for line := range strings.Lines(got) {
			if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > int(usual) {
				t.Errorf("%s: %s", tt.name, line)
			}
		}
	}
}
