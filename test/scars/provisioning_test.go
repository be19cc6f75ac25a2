package scars

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// entries is how many the history of provisioning has, inputs how many kinds of bad input.
const entries, inputs = 135, 20

// TestProvisioning holds that each entry of that history has scars of the table, or a reason for
// having none.
func TestProvisioning(t *testing.T) {
	var known []string
	for _, c := range chapters(t) {
		for _, s := range c.Scars {
			known = append(known, s.ID)
		}
	}
	history, _ := page(t)
	var have []int
	for line := range strings.Lines(history) {
		cells := strings.Split(line, "|")
		if len(cells) < 2 {
			continue
		}
		number, err := strconv.Atoi(strings.TrimSpace(cells[1]))
		if err != nil {
			continue // the head of a table
		}
		have = append(have, number)
		if len(cells) != 6 {
			t.Errorf("%d: %d cells, want 4", number, len(cells)-2)
			continue
		}
		was, ids, why := strings.TrimSpace(cells[2]), strings.TrimSpace(cells[3]), strings.TrimSpace(cells[4])
		if was == "" || ids == "" && why == "" {
			t.Errorf("%d: write what it was, and its scars or why there are none", number)
		}
		for id := range strings.SplitSeq(ids, ", ") {
			if id != "" && !slices.Contains(known, id) {
				t.Errorf("%d: there is no scar %s", number, id)
			}
		}
	}
	slices.Sort(have)
	for i := range entries {
		if i >= len(have) || have[i] != i+1 {
			t.Fatalf("want each entry from 1 to %d once, have %v", entries, have)
		}
	}
	if len(have) != entries {
		t.Errorf("%d entries, want %d", len(have), entries)
	}
}

// TestProvisioning_BadInput holds that each kind of bad input has tests that exist.
func TestProvisioning_BadInput(t *testing.T) {
	_, table := page(t)
	rows := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 || !strings.Contains(line, "`") || !strings.Contains(line, " Test") {
			continue
		}
		rows++
		list, err := readTests(strings.TrimSpace(cells[2]))
		if err != nil {
			t.Error(err)
		}
		for _, test := range list {
			test.exists(t, strings.TrimSpace(cells[1]))
		}
	}
	if rows != inputs {
		t.Errorf("%d rows, want %d", rows, inputs)
	}
}

// page returns the entries of the history, and the table of bad input.
func page(t *testing.T) (history, input string) {
	t.Helper()
	text, err := os.ReadFile("PROVISIONING.md")
	if err != nil {
		t.Fatal(err)
	}
	history, input, ok := strings.Cut(string(text), "\n## Bad input\n")
	if !ok {
		t.Fatal("there is no table of bad input")
	}
	return history, input
}
