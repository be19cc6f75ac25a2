package scars

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	root  = "../.." // the module's directory
	table = "TABLE.md"
)

// history is how many scars of each kind the history of the former systems has: none is lost.
var history = map[string]int{"K": 66, "H": 25, "D": 16, "N": 26, "R": 18, "P": 9, "B": 9, "W": 38}

func chapters(t *testing.T) []Chapter {
	t.Helper()
	all, err := Read(table)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestComplete holds that the scars of each kind are numbered from 1 without a gap, that all of the
// history is there, and that each scar has tests or a reason for having none. After the former
// systems' scars of kind P come those of provisioning, by that history's numbers: in order, but with
// gaps.
func TestComplete(t *testing.T) {
	have, provisioning := map[string]int{}, history["P"]
	for _, c := range chapters(t) {
		for _, s := range c.Scars {
			kind, text, _ := strings.Cut(s.ID, "-")
			number, err := strconv.Atoi(text)
			if kind == "P" && have[kind] == history[kind] {
				if err != nil || number <= provisioning {
					t.Errorf("%s: want a number above P-%02d", s.ID, provisioning)
				}
				provisioning = number
			} else if have[kind]++; err != nil || number != have[kind] {
				t.Errorf("%s: want %s-%02d", s.ID, kind, have[kind])
			}
			if s.Was == "" || len(s.Tests) == 0 && s.Open == "" {
				t.Errorf("%s: name what it was, and its tests or why there are none", s.ID)
			}
			if s.Defect.In != "" && len(s.Tests) == 0 {
				t.Errorf("%s: a defect without a test", s.ID)
			}
		}
	}
	for kind, count := range history {
		if have[kind] != count {
			t.Errorf("%d scars of kind %s, the history has %d", have[kind], kind, count)
		}
	}
}

// TestNamed holds that each named test exists, and each subtest in some text of its package.
func TestNamed(t *testing.T) {
	for _, c := range chapters(t) {
		for _, s := range c.Scars {
			for _, test := range s.Tests {
				test.exists(t, s.ID)
			}
		}
	}
}

// known are the tests of the rooms that were looked into.
var known = map[string]tests{}

// exists holds that the test that row names is there.
func (k Test) exists(t *testing.T, row string) {
	t.Helper()
	if _, ok := known[k.Room]; !ok {
		known[k.Room] = testsOf(t, k.Room)
	}
	function, sub, _ := strings.Cut(k.Name, "/")
	if !slices.Contains(known[k.Room].functions, function) {
		t.Errorf("%s: there is no %s in %s", row, function, k.Room)
	}
	if sub != "" && !slices.Contains(known[k.Room].texts, sub) {
		t.Errorf("%s: no test in %s is called %q", row, k.Room, sub)
	}
}

// tests are what a package's test files hold.
type tests struct {
	functions []string
	texts     []string // string literals, and names of files that tests may have
}

func testsOf(t *testing.T, room string) (found tests) {
	t.Helper()
	for _, below := range []string{"*", "*/*"} {
		data, err := filepath.Glob(filepath.Join(root, room, "testdata", below))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range data {
			found.texts = append(found.texts, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
		}
	}
	files, err := filepath.Glob(filepath.Join(root, room, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				found.functions = append(found.functions, n.Name.Name)
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
					found.texts = append(found.texts, text)
				}
			}
			return true
		})
	}
	return found
}

// TestDefects holds that each defect has its place, changes something and is of the product, and
// that its node still has the shape for which the row was written.
func TestDefects(t *testing.T) {
	all := defective(t)
	if len(all) == 0 {
		t.Error("no scar has a defect")
	}
	for _, s := range all {
		file, text, err := s.Defect.Apply(root)
		if err != nil {
			t.Errorf("%s: %v", s.ID, err)
			continue
		}
		good, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		if string(good) == string(text) {
			t.Errorf("%s: the defect in %s changes nothing", s.ID, file)
		}
		if err := s.Defect.moved(root); err != nil {
			t.Errorf("%s: %v", s.ID, err)
		}
	}
}

// moved returns an error if the node of a defect has not its shape, with what to write instead.
func (d Defect) moved(root string) error {
	at, places, err := d.Places(root)
	if err != nil || places[d.Node-1].Shape == d.Shape {
		return err
	}
	there := func(number int) string {
		p, now := places[number-1], d
		now.Node, now.Shape = number, p.Shape
		return fmt.Sprintf("`%s` for %s:%d: %s", now, at.path, p.Line, p.Text)
	}
	if i := slices.IndexFunc(places, func(p Place) bool { return p.Shape == d.Shape }); i >= 0 {
		return fmt.Errorf("`%s` has moved: write %s\n\tor, if the row means this one, %s",
			d, there(i+1), there(d.Node))
	}
	return fmt.Errorf("`%s` may mean another node now, and none has its shape: "+
		"if the row means this one, write %s", d, there(d.Node))
}
