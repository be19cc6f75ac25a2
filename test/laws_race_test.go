package test

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// unraced are the packages that start goroutines and are not in `make race`.
var unraced = map[string]string{
	"cmd/onprem-infra":     "it wires rooms; its tests hold how soon something happens, and start whole clusters",
	"cmd/onprem-supervise": "its tests hold how soon a real keepalived changes; its rooms in shared/host are in the list",
}

// TestLawsRace holds that each package that starts goroutines is in the list of `make race`, or
// named above with the reason.
func TestLawsRace(t *testing.T) {
	text, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^\t\$\(GO\) test \$\(TAGS\) -race .*`).FindString(string(text))
	var listed []string
	for _, word := range strings.Fields(line) {
		if room, ok := strings.CutPrefix(word, "./"); ok {
			listed = append(listed, room)
		}
	}
	if len(listed) == 0 {
		t.Fatal("`make race` has no list of packages")
	}
	covers := func(room string) bool {
		return slices.ContainsFunc(listed, func(l string) bool {
			below, all := strings.CutSuffix(l, "/...")
			return room == below || all && strings.HasPrefix(room, below+"/")
		})
	}
	for _, p := range rooms(t) {
		room := p.room()
		if strings.HasPrefix(room, "test/") {
			continue
		}
		_, except := unraced[room]
		at := startsGoroutine(t, p)
		switch raced := covers(room); {
		case at != "" && !raced && !except:
			t.Errorf("%s starts a goroutine in %s: add it to `make race`, or to this test with the reason", room, at)
		case except && (raced || at == ""):
			t.Errorf("%s is excepted, and need not be", room)
		}
	}
}

// startsGoroutine is the place of a package where it does so; empty if there is none.
func startsGoroutine(t *testing.T, p pkg) (at string) {
	t.Helper()
	fset, files := source(t, p)
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			starts := false
			switch n := n.(type) {
			case *ast.GoStmt:
				starts = true
			case *ast.CallExpr: // of sync.WaitGroup
				s, ok := n.Fun.(*ast.SelectorExpr)
				starts = ok && s.Sel.Name == "Go"
			}
			if starts {
				position := fset.Position(n.Pos())
				position.Filename = filepath.Base(position.Filename)
				at = position.String()
			}
			return true
		})
	}
	return at
}
