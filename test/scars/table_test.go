package scars

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write TABLE.md anew")

const table = "TABLE.md"

// TestTable holds TABLE.md, which is for people, to the entries.
func TestTable(t *testing.T) {
	want := render()
	if *update {
		if err := os.WriteFile(table, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have, err := os.ReadFile(table); err != nil || string(have) != want {
		t.Errorf("%s is not what the entries say (%v): run go test ./test/scars -run Table -update", table, err)
	}
}

func render() string {
	var b strings.Builder
	b.WriteString("# Scars and the tests that keep them\n\n")
	b.WriteString("Generated from the entries of this package by `go test ./test/scars -run Table -update`. `make scars` puts each test's defect into a\n")
	b.WriteString("copy of the tree and sees the test fail.\n")
	for _, part := range Parts() {
		held := 0
		for _, s := range part.Scars {
			if len(s.Kept) > 0 {
				held++
			}
		}
		fmt.Fprintf(&b, "\n## %s\n\n%d of %d are kept.\n\n| Scar | What it was | Kept by | Not kept, and why |\n|---|---|---|---|\n", part.Title, held, len(part.Scars))
		for _, s := range part.Scars {
			var tests []string
			for _, k := range s.Kept {
				if test := cell(fmt.Sprintf("`%s` %s", k.Room, k.Test)); !slices.Contains(tests, test) {
					tests = append(tests, test)
				}
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", s.ID, cell(s.Was), strings.Join(tests, "<br>"), cell(s.Open))
		}
	}
	return b.String()
}

// cell is a text that does not end its cell.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
