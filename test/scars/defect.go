package scars

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// Defect is one change that brings an old bug back: an operator, and what it changes, found by the
// declaration that holds it. Neither another layout of the text nor another name within the
// declaration moves a defect.
type Defect struct {
	// In is a declaration of the product: the path of its package below the module, a dot, and the
	// name of a function, variable, constant or type, or Type.Method: "shared/vrrp.Policy.Prove".
	// For Omit it is the path of a file that a daemon reads.
	In       string
	Operator Operator
	// Node counts the nodes of the declaration that the operator can change, in the order of the
	// source, from 1; for Omit the lines with the directive.
	Node int
	// Shape is that of the node, as Place has it: an edit beside the node that moves Node to another
	// one is noticed.
	Shape string
	// Value is what Replace puts in the place of a literal, and the directive that Omit leaves out.
	Value string
}

// Operator says what becomes of a node.
type Operator string

// The operators.
const (
	Drop    Operator = "drop"    // a statement is left out
	Negate  Operator = "negate"  // a condition is negated
	Always  Operator = "always"  // a condition is always true
	Never   Operator = "never"   // a condition is never true
	Left    Operator = "left"    // only the left operand of a binary operator counts
	Right   Operator = "right"   // only the right operand counts
	Bound   Operator = "bound"   // < is <=, > is >=, == is !=, and the other way round
	Replace Operator = "replace" // another expression is in the place of a literal
	Omit    Operator = "omit"    // a directive of a unit or of a daemon's configuration is left out
)

// Apply returns the file that the defect changes, as a path below root, and its text then.
func (d Defect) Apply(root string) (file string, text []byte, err error) {
	at, places, err := d.Places(root)
	if err != nil {
		return "", nil, err
	}
	if d.Node < 1 || d.Node > len(places) {
		return "", nil, fmt.Errorf("%s: %s %s %d: want one of %d nodes",
			d.In, d.Operator, d.Value, d.Node, len(places))
	}
	p := places[d.Node-1]
	changed := string(at.text[:p.from]) + d.instead(p.node, at.source) + string(at.text[p.to:])
	if d.Operator == Omit {
		return at.path, []byte(changed), nil
	}
	text, err = withImports(at.path, at.parsed, changed)
	return at.path, text, err
}

// withImports returns a changed file in which the packages that the change was the last to use are
// imported for nothing, as it would not build otherwise.
func withImports(path string, former *ast.File, text string) ([]byte, error) {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	used, uses := qualifiers(former), qualifiers(parsed)
	for _, i := range slices.Backward(parsed.Imports) {
		name := filepath.Base(strings.Trim(i.Path.Value, `"`))
		if i.Name == nil && used[name] && !uses[name] {
			at := set.Position(i.Pos()).Offset
			text = text[:at] + "_ " + text[at:]
		}
	}
	return []byte(text), nil
}

// qualifiers are the names before a dot, those of packages among them.
func qualifiers(file *ast.File) map[string]bool {
	found := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if name, ok := s.X.(*ast.Ident); ok {
				found[name.Name] = true
			}
		}
		return true
	})
	return found
}

// find returns the declaration of that name, or nil.
func find(file *ast.File, name string) ast.Node {
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if function(d) == name {
				return d
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.ValueSpec:
					if slices.ContainsFunc(s.Names, func(n *ast.Ident) bool { return n.Name == name }) {
						return s
					}
				case *ast.TypeSpec:
					if s.Name.Name == name {
						return s
					}
				}
			}
		}
	}
	return nil
}

// function is the name of a function, or Type.Method.
func function(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	receiver := d.Recv.List[0].Type
	for {
		switch r := receiver.(type) {
		case *ast.StarExpr:
			receiver = r.X
			continue
		case *ast.IndexExpr:
			receiver = r.X
			continue
		case *ast.Ident:
			return r.Name + "." + d.Name.Name
		}
		return d.Name.Name
	}
}

// targets returns the nodes of a declaration that an operator can change, in the source's order.
func targets(declaration ast.Node, operator Operator) []ast.Node {
	found := map[ast.Node]bool{}
	add := func(nodes ...ast.Node) {
		for _, n := range nodes {
			found[n] = true
		}
	}
	ast.Inspect(declaration, func(n ast.Node) bool {
		switch operator {
		case Drop:
			add(parts(n)...)
		case Negate, Always, Never:
			add(conditions(n)...)
		case Left, Right:
			if b, ok := n.(*ast.BinaryExpr); ok {
				add(b)
			}
		case Bound:
			if b, ok := n.(*ast.BinaryExpr); ok && bounds[b.Op] != token.ILLEGAL {
				add(b)
			}
		case Replace:
			if l, ok := n.(*ast.BasicLit); ok {
				add(l)
			}
			if i, ok := n.(*ast.Ident); ok && predeclared(i) {
				add(i)
			}
		}
		return true
	})
	nodes := make([]ast.Node, 0, len(found))
	for n := range found {
		nodes = append(nodes, n)
	}
	slices.SortFunc(nodes, func(a, b ast.Node) int {
		return cmp.Or(cmp.Compare(a.Pos(), b.Pos()), cmp.Compare(b.End(), a.End()))
	})
	return nodes
}

// predeclared reports whether a name is one of the language's values, which no rename changes.
func predeclared(n *ast.Ident) bool {
	return slices.Contains([]string{"true", "false", "nil"}, n.Name)
}

// parts are what a node consists of that may be left out, one by one.
func parts(n ast.Node) (all []ast.Node) {
	list := func(statements []ast.Stmt) {
		for _, s := range statements {
			all = append(all, s)
		}
	}
	switch n := n.(type) {
	case *ast.BlockStmt:
		list(n.List)
	case *ast.CaseClause:
		list(n.Body)
	case *ast.CommClause:
		list(n.Body)
	}
	return all
}

// conditions are the boolean expressions that a node decides by.
func conditions(n ast.Node) []ast.Node {
	switch n := n.(type) {
	case *ast.IfStmt:
		return []ast.Node{n.Cond}
	case *ast.ForStmt:
		if n.Cond != nil {
			return []ast.Node{n.Cond}
		}
	case *ast.SwitchStmt:
		if n.Tag != nil {
			return nil
		}
		var all []ast.Node
		for _, clause := range n.Body.List {
			for _, e := range clause.(*ast.CaseClause).List {
				all = append(all, e)
			}
		}
		return all
	case *ast.BinaryExpr:
		if n.Op == token.LAND || n.Op == token.LOR {
			return []ast.Node{n.X, n.Y}
		}
		if bounds[n.Op] != token.ILLEGAL {
			return []ast.Node{n}
		}
	}
	return nil
}

// bounds has the comparison that Bound makes of each.
var bounds = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL,
}

// instead returns the text that takes a node's place.
func (d Defect) instead(node ast.Node, source func(ast.Node) string) string {
	switch d.Operator {
	case Negate:
		return "!(" + source(node) + ")"
	case Always:
		return "true"
	case Never:
		return "false"
	case Left, Right, Bound:
		b := node.(*ast.BinaryExpr)
		left, right := source(b.X), source(b.Y)
		switch d.Operator {
		case Left:
			return left
		case Right:
			return right
		}
		return left + " " + bounds[b.Op].String() + " " + right
	case Replace:
		return d.Value
	}
	return ""
}
