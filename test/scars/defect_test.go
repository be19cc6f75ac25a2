package scars

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
		{Defect{open, Drop, 1, "", ""}, "\tcount++\n", "\t\n"},
		{Defect{open, Negate, 1, "", ""}, "n < limit && g.ready", "!(n < limit && g.ready)"},
		{Defect{open, Always, 3, "", ""}, "g.ready {", "true {"},
		{Defect{open, Never, 4, "", ""}, "case n == 7:", "case false:"},
		{Defect{open, Left, 1, "", ""}, "n < limit && g.ready", "n < limit"},
		{Defect{open, Right, 1, "", ""}, "n < limit && g.ready", "g.ready"},
		{Defect{open, Bound, 1, "", ""}, "n < limit", "n <= limit"},
		{Defect{open, Replace, 1, "", "false"}, "return true", "return false"},
		{Defect{"a/room.limit", Replace, 1, "", "6"}, "limit = 5", "limit = 6"},
		{Defect{"a/room/a.service", Omit, 2, "", "ExecStart"}, "ExecStart=/bin/b\n", ""},
		{Defect{"a/room/a.service", Omit, 1, "", "Restart"}, "Restart=always\n", ""},
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

// TestPlaces holds that a shape stays with its node over a rename, a reformat, another value and
// an edit beside it, and that a node which takes the number of another one has another shape.
func TestPlaces(t *testing.T) {
	shapes := func(operator Operator, value, old, then string) (all []string) {
		root, in := tree(t), "a/room.gate.open"
		if operator == Omit {
			in = "a/room/a.service"
		}
		for name, text := range map[string]string{"room.go": product, "a.service": unit} {
			text = strings.ReplaceAll(text, old, then)
			if err := os.WriteFile(filepath.Join(root, "a", "room", name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		_, places, err := Defect{In: in, Operator: operator, Value: value}.Places(root)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range places {
			all = append(all, p.Shape)
		}
		return all
	}
	for _, tt := range []struct {
		name            string
		operator        Operator
		value           string
		old, then       string
		node, afterward int // which node has the shape of which of before; afterward 0 for none
	}{
		{"a rename", Drop, "", "limit", "most", 2, 2},
		{"a reformat", Negate, "", "n < limit && g.ready", "n < limit &&\n\tg.ready", 1, 1},
		{"another value", Drop, "", `"seven"`, `"7"`, 4, 4},
		{"a statement before it", Drop, "", "count++", "count++\n\tg.log(0)", 2, 3},
		{"a statement like it before it", Drop, "", "count++", "count++\n\tcount++", 1, 0},
		{"another operator", Bound, "", "n < limit", "n >= limit", 1, 0},
		{"another constant", Drop, "", "return true", "return false", 3, 0},
		{"a line before it", Omit, "ExecStart", "RestartSec", "User=root\nRestartSec", 2, 2},
		{"a line like it before it", Omit, "ExecStart", "RestartSec", "ExecStart=/b\nRestartSec", 2, 0},
	} {
		before := shapes(tt.operator, tt.value, "", "")
		after := shapes(tt.operator, tt.value, tt.old, tt.then)
		if got := slices.Index(after, before[tt.node-1]) + 1; got != tt.afterward {
			t.Errorf("%s: node %d is %d, want %d: %v, then %v", tt.name, tt.node, got, tt.afterward, before, after)
		}
	}
}

// TestMoved holds that a row whose number points to another node says what to write.
func TestMoved(t *testing.T) {
	root := tree(t)
	_, places, err := Defect{In: "a/room.gate.open", Operator: Drop}.Places(root)
	if err != nil {
		t.Fatal(err)
	}
	first, second := places[0].Shape, places[1].Shape
	for _, tt := range []struct {
		shape string
		want  []string
	}{
		{first, nil},
		{second, []string{"drop a/room.gate.open 2#" + second, "a/room/room.go:7: if n < limit",
			"drop a/room.gate.open 1#" + first, "a/room/room.go:6: count++"}},
		{"", []string{"drop a/room.gate.open 1#" + first}},
	} {
		err := Defect{In: "a/room.gate.open", Operator: Drop, Node: 1, Shape: tt.shape}.moved(root)
		for _, want := range tt.want {
			if !strings.Contains(fmt.Sprint(err), want) {
				t.Errorf("shape %q: %v, want %q", tt.shape, err, want)
			}
		}
		if tt.want == nil && err != nil {
			t.Errorf("shape %q: %v", tt.shape, err)
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
	_, text, err := Defect{"a/room.open", Drop, 1, "", ""}.Apply(root)
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
