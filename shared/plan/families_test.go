package plan

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// TestFamiliesFirst holds N-21: of each family set, also of one that is added later, it is known
// which family comes first.
func TestFamiliesFirst(t *testing.T) {
	first := map[Families]bool{IPv4: false, IPv6: true, DualStack: false, DualStackIPv6: true}
	for f, want := range first {
		if f.IPv6First() != want {
			t.Errorf("%s: IPv6 first %v", f, !want)
		}
	}
	set := token.NewFileSet()
	declared := constants(t, set, "plan.go", "Families")
	if len(declared) != len(first) {
		t.Errorf("there are the family sets %v: list for each whether IPv6 comes first", declared)
	}
}

// constants are the names of a type's constants.
func constants(t *testing.T, set *token.FileSet, file, kind string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(set, file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			if of, ok := v.Type.(*ast.Ident); ok && of.Name == kind {
				names = append(names, v.Names[0].Name)
			}
		}
		return true
	})
	return names
}
