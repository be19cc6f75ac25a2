package test

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// importable are the rooms that other programs import, each with the modules that it may bring
// along beside ours, given as prefixes of packages.
func importable() map[string][]string {
	yaml, unit := "go.yaml.in/yaml/v3", "github.com/coreos/go-systemd/v22/unit"
	bmc, errs := "github.com/metal3-io/baremetal-operator/pkg/hardwareutils/bmc", "github.com/pkg/errors"
	return map[string][]string{
		"shared/role":    nil,
		"shared/asset":   nil,
		"shared/spec":    {yaml, bmc, errs},
		"shared/plan":    {yaml, bmc, errs},
		"bootstrap":      {yaml, unit, bmc, errs},
		"cluster":        {yaml, unit, bmc, errs},
		"cluster/metal3": {yaml, bmc, errs},
		"ignition":       {yaml, unit, bmc, errs, "github.com/coreos/", "github.com/vincent-petithory/dataurl"},
	}
}

// TestLawsImporter holds what an importer of the asset API gets with it: parsers and writers of
// text. No container engine, no Kubernetes client and not even its types, no DNS server, no
// netlink, no command line.
func TestLawsImporter(t *testing.T) {
	list, brings := importable(), map[string]int{}
	for _, p := range rooms(t) {
		may, is := list[p.room()]
		if !is {
			continue
		}
		delete(list, p.room())
		foreign, own := 0, 0
		for _, dep := range p.Deps {
			first, _, _ := strings.Cut(dep, "/")
			switch {
			case strings.HasPrefix(dep, module+"/"):
				own++
			case strings.Contains(first, "."):
				if foreign++; !slices.ContainsFunc(may, func(m string) bool { return dep == m || strings.HasPrefix(dep, strings.TrimSuffix(m, "/")+"/") }) {
					t.Errorf("%s pulls %s into its importer", p.room(), dep)
				}
			}
		}
		brings[p.room()] = foreign
		t.Logf("go list -deps %s: %d packages, %d of this module, %d of others", p.room(), len(p.Deps)+1, own+1, foreign)
	}
	for room := range maps.Keys(list) {
		t.Errorf("%s is importable and is not there", room)
	}
	statement := fmt.Sprintf("`bootstrap.Assets` brings %d packages of other modules, `cluster.Assets` the same %d, `ignition` %d", brings["bootstrap"], brings["cluster"], brings["ignition"])
	text, err := os.ReadFile("../shared/README.md")
	if err != nil || !strings.Contains(strings.Join(strings.Fields(string(text)), " "), statement) {
		t.Errorf("shared/README.md does not state: %s (%v)", statement, err)
	}
}

// closure are the importable rooms with all rooms that they pull in.
func closure(t *testing.T) []pkg {
	t.Helper()
	all, in := rooms(t), map[string]bool{}
	for _, p := range all {
		if _, is := importable()[p.room()]; is {
			in[p.ImportPath] = true
			for _, dep := range p.Deps {
				in[dep] = true
			}
		}
	}
	return slices.DeleteFunc(all, func(p pkg) bool { return !in[p.ImportPath] })
}

// touching are the packages of the standard library that reach out of the process. io/fs is not
// among them: it reads what is embedded.
var touching = []string{"crypto/rand", "database/sql", "io/ioutil", "log", "math/rand", "os", "path/filepath", "plugin", "runtime", "syscall", "testing", "unsafe"}

// impure says of packages that can do both what in them reaches out.
func impure(pkg, name string) bool {
	switch pkg {
	case "net":
		return name != "ParseMAC"
	case "time":
		return slices.Contains([]string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Local", "LoadLocation"}, name)
	}
	return false
}

// TestLawsPure holds that no room which an importer gets does I/O, reads a clock, starts a
// goroutine, or keeps anything between two calls. The rule is by what our own rooms import and
// call: of the standard library nothing that reaches out of the process, and no assignment to what
// a package holds.
func TestLawsPure(t *testing.T) {
	list := closure(t)
	if len(list) < len(importable()) {
		t.Fatalf("the closure has %d rooms", len(list))
	}
	for _, p := range list {
		if strings.HasPrefix(p.room(), "shared/host") || strings.HasPrefix(p.room(), "cmd/") || strings.HasPrefix(p.room(), "test/") {
			t.Errorf("%s is no room for importers", p.room())
		}
		for _, imp := range p.Imports {
			part := slices.ContainsFunc([]string{"os/", "net/", "runtime/", "log/", "math/rand/"}, func(above string) bool { return strings.HasPrefix(imp, above) })
			if p.room() == "shared/secret" && imp == "log/slog" {
				continue // the type by which a value hides itself in a log; it writes none
			}
			if part && imp != "net/netip" && imp != "net/url" || slices.Contains(touching, imp) {
				t.Errorf("%s imports %s: what an importer gets does not touch the machine", p.room(), imp)
			}
		}
		fset, files := source(t, p)
		held := map[string]bool{}
		for _, f := range files {
			for _, name := range packageVars(f) {
				held[name] = true
			}
		}
		for _, f := range files {
			pure(t, fset, f, held)
		}
	}
}

// packageVars are the names of a file's package-level variables.
func packageVars(f *ast.File) (names []string) {
	for _, decl := range f.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.VAR {
			continue
		}
		for _, s := range gen.Specs {
			for _, name := range s.(*ast.ValueSpec).Names {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

// pure says where a file does what no importable room may. Held are the variables of its package.
func pure(t *testing.T, fset *token.FileSet, f *ast.File, held map[string]bool) {
	t.Helper()
	imported := map[string]bool{}
	for _, imp := range f.Imports {
		path, _ := strconv.Unquote(imp.Path.Value)
		imported[path] = true
	}
	changes := func(target ast.Expr) {
		if name := root(target); name != nil && held[name.Name] && (name.Obj == nil || f.Scope.Lookup(name.Name) == name.Obj) {
			t.Errorf("%s: %s is the package's and is changed: what is kept between two calls, two callers share", fset.Position(target.Pos()), name.Name)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			t.Errorf("%s: a goroutine outlives its caller's question", fset.Position(n.Pos()))
		case *ast.AssignStmt:
			for _, target := range n.Lhs {
				if n.Tok != token.DEFINE {
					changes(target)
				}
			}
		case *ast.IncDecStmt:
			changes(n.X)
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if !ok || x.Obj != nil || !imported[x.Name] {
				return true
			}
			if impure(x.Name, n.Sel.Name) {
				t.Errorf("%s: %s.%s reaches out of the process", fset.Position(n.Pos()), x.Name, n.Sel.Name)
			}
		}
		return true
	})
}

// root is the variable that an expression is a part of, or nil.
func root(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.IndexExpr:
		return root(e.X)
	case *ast.SelectorExpr:
		return root(e.X)
	case *ast.StarExpr:
		return root(e.X)
	case *ast.ParenExpr:
		return root(e.X)
	}
	return nil
}
