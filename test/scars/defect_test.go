package scars

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	product = `package room

const limit = 5

func (g *gate[T]) open(n int) bool {
	count++
	if n < limit && g.ready {
		return true
	}
	switch {
	case n == 7:
		g.log("seven")
	}
	return false
}
`
	unit = "[Service]\nRestart=always\nRestartSec=1\nExecStart=/bin/a\nExecStart=/bin/b\n"
)

// TestApply holds what each operator makes of a declaration.
func TestApply(t *testing.T) {
	const open = "a/room.gate.open"
	for _, tt := range []struct {
		defect    Defect
		old, then string // what the defect changes in the file
	}{
		{Defect{open, Drop, 1, ""}, "\tcount++\n", "\t\n"},
		{Defect{open, Negate, 1, ""}, "n < limit && g.ready", "!(n < limit && g.ready)"},
		{Defect{open, Always, 3, ""}, "g.ready {", "true {"},
		{Defect{open, Never, 4, ""}, "case n == 7:", "case false:"},
		{Defect{open, Left, 1, ""}, "n < limit && g.ready", "n < limit"},
		{Defect{open, Right, 1, ""}, "n < limit && g.ready", "g.ready"},
		{Defect{open, Bound, 1, ""}, "n < limit", "n <= limit"},
		{Defect{open, Replace, 1, "false"}, "return true", "return false"},
		{Defect{"a/room.limit", Replace, 1, "6"}, "limit = 5", "limit = 6"},
		{Defect{"a/room/a.service", Omit, 2, "ExecStart"}, "ExecStart=/bin/b\n", ""},
		{Defect{"a/room/a.service", Omit, 1, "Restart"}, "Restart=always\n", ""},
	} {
		root := tree(t)
		file, text, err := tt.defect.Apply(root)
		if err != nil {
			t.Errorf("%v: %v", tt.defect, err)
			continue
		}
		good, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Replace(string(good), tt.old, tt.then, 1); string(text) != want {
			t.Errorf("%v gives\n%s\nwant\n%s", tt.defect, text, want)
		}
	}
}

// TestApply_LastUse holds that a file builds of whose packages one has lost its last use.
func TestApply_LastUse(t *testing.T) {
	const file = "package room\n\nimport (\n\t\"a/one\"\n\t\"a/two\"\n\t\"b/v2\"\n)\n\nfunc open() {\n\tone.Do(two.Word)\n\tone.Do(0)\n}\n"
	root := tree(t)
	if err := os.WriteFile(filepath.Join(root, "a", "room", "room.go"), []byte(file), 0o644); err != nil {
		t.Fatal(err)
	}
	_, text, err := Defect{"a/room.open", Drop, 1, ""}.Apply(root)
	want := strings.NewReplacer("one.Do(two.Word)", "", `"a/two"`, `_ "a/two"`).Replace(file)
	if err != nil || string(text) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, text, want)
	}
}

// TestApply_Missing holds that a defect without a place is refused.
func TestApply_Missing(t *testing.T) {
	root := tree(t)
	for _, d := range []Defect{
		{In: "a/room", Operator: Drop, Node: 1},
		{In: "a/room.gate.close", Operator: Drop, Node: 1},
		{In: "a/room.gate.open", Operator: Drop, Node: 0},
		{In: "a/room.gate.open", Operator: Bound, Node: 3},
		{In: "a/room/b.service", Operator: Omit, Node: 1, Value: "Restart"},
		{In: "a/room/a.service", Operator: Omit, Node: 1, Value: "Rest"},
	} {
		if file, _, err := d.Apply(root); err == nil {
			t.Errorf("%v changes %s, want an error", d, file)
		}
	}
}

// tree returns the root of a module with one room.
func tree(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, "a", "room")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"room.go": product, "a.service": unit} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}
