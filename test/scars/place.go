package scars

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Place is a node that an operator can change, or a line that Omit can leave out.
type Place struct {
	Line int
	Text string // the first line of it
	// Shape is a hash of the node's syntax, of what it stands in, and of which it is among the nodes
	// of the declaration for which these are the same. Names, the values of literals and the layout
	// are not part of it: neither a rename nor a reformat changes it.
	Shape string

	node     ast.Node // nil for a line
	from, to int      // offsets in the file
}

// file is the file that a defect changes.
type file struct {
	path   string // below the tree's root
	text   []byte
	set    *token.FileSet
	parsed *ast.File // nil for Omit
}

func (f file) offset(pos token.Pos) int { return f.set.Position(pos).Offset }

func (f file) source(n ast.Node) string { return string(f.text[f.offset(n.Pos()):f.offset(n.End())]) }

// Places returns what the defect's operator can change in its declaration, in the order of the
// source, and the file that it is in.
func (d Defect) Places(root string) (at file, places []Place, err error) {
	var alike []string
	if d.Operator == Omit {
		at, places, err = d.lines(root)
		alike = make([]string, len(places))
	} else {
		at, places, alike, err = d.nodes(root)
	}
	for i, shape := range alike {
		before, all := 0, 0
		for j, other := range alike {
			if other == shape {
				all++
				if j < i {
					before++
				}
			}
		}
		hash := fnv.New32a()
		fmt.Fprint(hash, shape, before, all)
		places[i].Shape = fmt.Sprintf("%04x", hash.Sum32()&0xffff)
	}
	return at, places, err
}

// nodes finds the nodes that the operator can change, and what they look like.
func (d Defect) nodes(root string) (at file, places []Place, alike []string, err error) {
	at, declaration, err := d.declaration(root)
	if err != nil {
		return at, nil, nil, err
	}
	found := targets(declaration, d.Operator)
	for _, n := range found {
		text, _, _ := strings.Cut(at.source(n), "\n")
		places = append(places, Place{Line: at.set.Position(n.Pos()).Line, Text: text,
			node: n, from: at.offset(n.Pos()), to: at.offset(n.End())})
	}
	return at, places, shapes(declaration, found), nil
}

// declaration finds what the defect is in.
func (d Defect) declaration(root string) (at file, declaration ast.Node, err error) {
	dir, name, ok := strings.Cut(d.In, ".")
	if !ok {
		return at, nil, fmt.Errorf("%q: want the path of a package, a dot and a declaration", d.In)
	}
	paths, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	if err != nil {
		return at, nil, err
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		at = file{path: strings.TrimPrefix(path, filepath.Clean(root)+"/"), set: token.NewFileSet()}
		if at.text, err = os.ReadFile(path); err != nil {
			return at, nil, err
		}
		at.parsed, err = parser.ParseFile(at.set, path, at.text, parser.SkipObjectResolution)
		if err != nil {
			return at, nil, err
		}
		if declaration := find(at.parsed, name); declaration != nil {
			return at, declaration, nil
		}
	}
	return at, nil, fmt.Errorf("%s: there is no such declaration", d.In)
}

// lines finds the lines with a directive in a text file.
func (d Defect) lines(root string) (at file, places []Place, err error) {
	at = file{path: d.In}
	if at.text, err = os.ReadFile(filepath.Join(root, d.In)); err != nil {
		return at, nil, err
	}
	number, from := 0, 0
	for line := range bytes.Lines(at.text) {
		number++
		text := strings.TrimSpace(string(line))
		rest, ok := strings.CutPrefix(text, d.Value)
		if ok && (rest == "" || strings.ContainsAny(rest[:1], " \t=")) {
			places = append(places, Place{Line: number, Text: text, from: from, to: from + len(line)})
		}
		from += len(line)
	}
	return at, places, nil
}

// shapes are the syntax of each of the nodes of a declaration, after the kinds of the nodes that it
// stands in.
func shapes(declaration ast.Node, nodes []ast.Node) []string {
	all := make([]string, len(nodes))
	var inside []string
	ast.Inspect(declaration, func(n ast.Node) bool {
		if n == nil {
			inside = inside[:len(inside)-1]
			return true
		}
		if i := slices.Index(nodes, n); i >= 0 {
			all[i] = strings.Join(inside, " ") + syntax(n)
		}
		inside = append(inside, fmt.Sprintf("%T", n))
		return true
	})
	return all
}

// syntax is a node as a text without names and values.
func syntax(node ast.Node) string {
	var text strings.Builder
	ast.Inspect(node, func(n ast.Node) bool {
		if n == nil {
			text.WriteByte(')')
		} else {
			fmt.Fprintf(&text, "(%T %s", n, sign(n))
		}
		return true
	})
	return text.String()
}

// sign is what tells two nodes of a kind apart that is no name, value or node of its own.
func sign(n ast.Node) string {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		return n.Op.String()
	case *ast.UnaryExpr:
		return n.Op.String()
	case *ast.AssignStmt:
		return n.Tok.String()
	case *ast.IncDecStmt:
		return n.Tok.String()
	case *ast.BranchStmt:
		return n.Tok.String()
	case *ast.BasicLit:
		return n.Kind.String()
	case *ast.Ident:
		if predeclared(n) {
			return n.Name
		}
	}
	return ""
}
