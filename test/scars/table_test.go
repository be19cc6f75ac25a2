package scars

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// write writes a table and returns its path.
func write(t *testing.T, rows ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), table)
	head := []string{"# Scars", "", "Text.", "", "## First", "", columns, "|---|---|---|---|---|"}
	text := strings.Join(append(head, rows...), "\n") + "\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRead(t *testing.T) {
	got, err := Read(write(t,
		"| A-01 | Broke. | `a/b` TestOne<br>`c` TestTwo/x \\| y | `replace a/b.T.f 2#0f3e \"x y\"` | |",
		"| A-02 | Other. | | | Why not. |"))
	want := []Chapter{{Title: "First", Scars: []Scar{
		{ID: "A-01", Was: "Broke.", Tests: []Test{{"a/b", "TestOne"}, {"c", "TestTwo/x | y"}},
			Defect: Defect{In: "a/b.T.f", Operator: Replace, Node: 2, Shape: "0f3e", Value: `"x y"`}},
		{ID: "A-02", Was: "Other.", Open: "Why not."},
	}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v (%v), want %+v", got, err, want)
	}
}

func TestRead_Refused(t *testing.T) {
	for row, want := range map[string]string{
		"| A-01 | Broke. | | |":                              "4 cells",
		"| A-01 | a | b | `a` TestOne | | |":                 "6 cells",
		"| A-01 | Broke. | TestOne | | |":                    "want `ROOM` TestName",
		"| A-01 | Broke. | `a` TestOne | `drop a.f` | |":     "OPERATOR DECLARATION NODE",
		"| A-01 | Broke. | `a` TestOne | `drop a.f x` | |":   "a number",
		"| A-01 | Broke. | `a` TestOne | `drop a.f 1 x` | |": "takes no value",
		"| A-01 | Broke. | `a` TestOne | `omit a.f 1` | |":   "takes a value",
		"| A-01 | Broke. | `a` TestOne | `spoil a.f 1` | |":  "no operator",
	} {
		_, err := Read(write(t, row))
		text := fmt.Sprint(err)
		if !strings.Contains(text, want) || !strings.Contains(text, table+":9: ") {
			t.Errorf("%s: %v, want line 9 and %q", row, err, want)
		}
	}
}
