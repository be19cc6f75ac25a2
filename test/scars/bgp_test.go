package scars

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// bgpEntries is how many the history of BGP has.
const bgpEntries = 44

// TestBGP holds that each entry of that history has scars of the table, other tests, or a reason for
// having none, and that they exist.
func TestBGP(t *testing.T) {
	var rows []string
	for _, c := range chapters(t) {
		for _, s := range c.Scars {
			rows = append(rows, s.ID)
		}
	}
	text, err := os.ReadFile("BGP.md")
	if err != nil {
		t.Fatal(err)
	}
	entry := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) < 2 || !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| Entry |") {
			continue
		}
		entry++
		if len(cells) != 7 {
			t.Fatalf("entry %d: %d cells, want 5", entry, len(cells)-2)
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		number, was, ids, others, why := cells[1], cells[2], cells[3], cells[4], cells[5]
		if number != strconv.Itoa(entry) || was == "" || ids+others+why == "" {
			t.Errorf("%q, want entry %d, what it was, and its scars, tests or why there are none", line, entry)
		}
		for id := range strings.SplitSeq(ids, ", ") {
			if id != "" && !slices.Contains(rows, id) {
				t.Errorf("%d: there is no scar %s", entry, id)
			}
		}
		all, err := readTests(others)
		if err != nil {
			t.Errorf("%d: %v", entry, err)
		}
		for _, test := range all {
			test.exists(t, number)
		}
	}
	if entry != bgpEntries {
		t.Errorf("%d entries, want %d", entry, bgpEntries)
	}
}
