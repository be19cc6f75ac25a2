package scars

import (
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

// root is the module's directory.
const root = "../.."

// TestComplete holds that every scar of every chapter has one entry, in order, and that no entry says nothing.
func TestComplete(t *testing.T) {
	for _, part := range Parts() {
		var ids []string
		for _, s := range part.Scars {
			ids = append(ids, s.ID)
			if s.Was == "" || len(s.Kept) == 0 && s.Open == "" {
				t.Errorf("%s says nothing: name what it was, and its tests or why there are none", s.ID)
			}
			if strings.Contains(s.Was+s.Open, "\n") {
				t.Errorf("%s has more than a line to say", s.ID)
			}
		}
		if !slices.Equal(ids, part.IDs) {
			t.Errorf("part %s has entries for\n%v\nwant\n%v", part.Title, ids, part.IDs)
		}
	}
}

// TestNamed holds that each test that is named exists, and each subtest in some text of its package.
func TestNamed(t *testing.T) {
	known := map[string]tests{}
	for _, part := range Parts() {
		for _, s := range part.Scars {
			for _, k := range s.Kept {
				if _, ok := known[k.Room]; !ok {
					known[k.Room] = testsOf(t, k.Room)
				}
				function, sub, _ := strings.Cut(k.Test, "/")
				if !slices.Contains(known[k.Room].functions, function) {
					t.Errorf("%s: there is no %s in %s", s.ID, function, k.Room)
				}
				if sub != "" && !slices.Contains(known[k.Room].texts, sub) {
					t.Errorf("%s: no test in %s is called %q", s.ID, k.Room, sub)
				}
			}
		}
	}
}

// tests are what a package's test files hold.
type tests struct {
	functions []string
	texts     []string // every string literal, and the names of the files that tests may be called after
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

// TestDefects holds that each defect can still be put in, in one place only.
func TestDefects(t *testing.T) {
	for _, part := range Parts() {
		for _, s := range part.Scars {
			for _, k := range s.Kept {
				d := k.Defect
				text, err := os.ReadFile(filepath.Join(root, d.File))
				if err != nil {
					t.Errorf("%s: %v", s.ID, err)
					continue
				}
				if n := strings.Count(string(text), d.Old); d.Old == "" || n != 1 {
					t.Errorf("%s: %s has %q %d times, want once: the defect must follow the code", s.ID, d.File, d.Old, n)
				}
				if d.Old == d.New {
					t.Errorf("%s: the defect in %s changes nothing", s.ID, d.File)
				}
				if strings.HasSuffix(d.File, "_test.go") {
					t.Errorf("%s: %s is a test: a defect belongs into what is tested", s.ID, d.File)
				}
			}
		}
	}
}
