package test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// source parses every file of a room that is shipped.
func source(t *testing.T, p pkg) (*token.FileSet, map[string]*ast.File) {
	t.Helper()
	fset, files := token.NewFileSet(), map[string]*ast.File{}
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = f
	}
	return fset, files
}

func TestLawsPackageComments(t *testing.T) {
	for _, p := range append(rooms(t), ownModule(t)...) {
		if len(p.GoFiles) == 0 {
			continue // a room of tests only
		}
		var with []string
		_, files := source(t, p)
		for name, f := range files {
			if f.Doc != nil {
				with = append(with, name)
			}
		}
		if len(with) != 1 {
			t.Errorf("%s has %d package comments %v, want one: it is the room's line on the map", p.room(), len(with), with)
		}
	}
}

func TestLawsNames(t *testing.T) {
	for _, p := range append(rooms(t), ownModule(t)...) {
		if last := filepath.Base(p.ImportPath); slices.Contains([]string{"util", "utils", "common", "helpers", "helper", "misc", "types"}, last) {
			t.Errorf("%s: %q says nothing of what lives there", p.room(), last)
		}
	}
}

// TestLawsConduct holds what no shipped file may do; each ban with its reason.
func TestLawsConduct(t *testing.T) {
	for _, p := range shipped(t) {
		fset, files := source(t, p)
		for _, f := range files {
			for _, imp := range f.Imports {
				path, _ := strconv.Unquote(imp.Path.Value)
				if path == "os/exec" && !strings.HasPrefix(p.room(), "shared/host/") {
					t.Errorf("%s imports os/exec: only shared/host starts processes", fset.Position(imp.Pos()))
				}
				if path == "log" {
					t.Errorf("%s imports log: a logger is passed in (log/slog)", fset.Position(imp.Pos()))
				}
			}
			for _, decl := range f.Decls {
				conduct(t, fset, decl)
			}
		}
	}
}

func conduct(t *testing.T, fset *token.FileSet, decl ast.Decl) {
	t.Helper()
	if fn, ok := decl.(*ast.FuncDecl); ok {
		if fn.Recv == nil && fn.Name.Name == "init" {
			t.Errorf("%s: init() runs before anybody asked for it", fset.Position(fn.Pos()))
		}
		if lines := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1; lines > 60 {
			t.Errorf("%s: %s has %d lines: split it", fset.Position(fn.Pos()), fn.Name.Name, lines)
		}
	}
	if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == token.VAR {
		ast.Inspect(gen, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if sel, ok := call.Fun.(*ast.SelectorExpr); ok && selects(sel, "slog", "New", "Default", "With") {
					t.Errorf("%s: a package-level logger cannot be told apart by its room", fset.Position(n.Pos()))
				}
			}
			return true
		})
	}
	ast.Inspect(decl, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && selects(sel, "time", "Sleep") {
			t.Errorf("%s: time.Sleep cannot be ended by a context", fset.Position(n.Pos()))
		}
		return true
	})
}

func selects(sel *ast.SelectorExpr, pkg string, names ...string) bool {
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == pkg && slices.Contains(names, sel.Sel.Name)
}
