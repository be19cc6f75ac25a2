package test

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// The grain of the house: what a reader can keep in mind at a time.
const (
	maxRoomLines  = 800
	maxParameters = 4
	maxFields     = 15
	maxColumns    = 100 // of a line; a tab counts 4
)

// constructor is the name of a constructor, shipped to other rooms or not.
var constructor = regexp.MustCompile(`^([Nn]ew|[Oo]pen)([A-Z]|$)`)

// coarse are the rooms, constructors and types above the grain, each with its reason.
var coarse = map[string]string{
	"shared/spec.Cluster":         "one field for each field of a cluster.yaml; importers set them in literals",
	"shared/plan/provision.Plan":  "one field for each value that plan prints of provisioning",
	"shared/keepalived.Instance":  "one field for each statement of keepalived's block",
	"shared/host/kube":            "one file for each kind of object; all of them use one connection, its retries and its errors",
	"shared/host/machines":        "one client reads and changes what one API has of hosts, of Machines and of the bootstrap machine",
	"shared/operator/scale":       "what is next for one host and for all, with its words: both see the same world",
	"shared/plan/provision":       "one plan with its proof and tables: a part of it would be proved without the others",
	"bootstrap/provision":         "phases, orders and requests are one loop; what concerns one host is in machine",
	"bootstrap/provision/machine": "one answer for each state of Ironic; a half of them would not show that none is missing",
	"shared/operator/metrics":     "one file for each program's metrics; All, which the documents are made of, needs them in one room",
	"cmd/onprem-infra":            "one file a verb of the command line; each file stands alone",
}

// TestLawsGrain holds that rooms, constructors and types stay small enough to be read at a time.
func TestLawsGrain(t *testing.T) {
	used := map[string]bool{}
	above := func(name string, n, limit int, what string) {
		if n <= limit {
			return
		}
		if coarse[name] == "" {
			t.Errorf("%s has %d %s, want %d at most: split it, or state the reason in test/laws_grain_test.go", name, n, what, limit)
		}
		used[name] = true
	}
	for _, p := range shipped(t) {
		lines := 0
		for _, name := range p.GoFiles {
			b, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			lines += strings.Count(string(b), "\n")
		}
		above(p.room(), lines, maxRoomLines, "lines")
		_, files := source(t, p)
		for _, f := range files {
			for _, decl := range f.Decls {
				if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && constructor.MatchString(fn.Name.Name) {
					above(p.room()+"."+fn.Name.Name, fn.Type.Params.NumFields(), maxParameters, "parameters")
				}
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if spec, ok := n.(*ast.TypeSpec); ok {
					if s, ok := spec.Type.(*ast.StructType); ok {
						above(p.room()+"."+spec.Name.Name, s.Fields.NumFields(), maxFields, "fields")
					}
				}
				return true
			})
		}
	}
	for name := range coarse {
		if !used[name] {
			t.Errorf("test/laws_grain_test.go: %s is within the grain: take its reason out", name)
		}
	}
}

// TestLawsColumns holds that a line fits a reader's window. Tags of fields cannot be broken.
func TestLawsColumns(t *testing.T) {
	for _, p := range shipped(t) {
		for _, name := range p.GoFiles {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			number := 0
			for line := range strings.Lines(string(text)) {
				number++
				line = strings.TrimSuffix(strings.ReplaceAll(line, "\t", "    "), "\n")
				tagged := strings.HasSuffix(line, "\"`")
				if columns := utf8.RuneCountInString(line); columns > maxColumns && !tagged {
					t.Errorf("%s:%d: %d columns, want %d at most", path.Join(p.room(), name), number, columns, maxColumns)
				}
			}
		}
	}
}
