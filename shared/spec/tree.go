package spec

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// value is one value of the document; node is nil when nothing, or null, stands there. Lost values
// are inside something of the wrong kind, which has been reported.
type value struct {
	node *yaml.Node
	at   place
	lost bool
}

// given says that the user wrote something, right or wrong.
func (v value) given() bool { return v.node != nil || v.lost }

// reader reads values out of a document and reports those of the wrong kind. It enters an alias
// only where the schema does, so that a document cannot unfold into more than was written.
type reader struct {
	*report
	file string
	want string                // what the document should be, in words
	maps map[*yaml.Node]object // read once each, however many aliases lead there
}

// list is the elements of a list, and whether there is one.
func (r *reader) list(v value) ([]value, bool) {
	if v.node == nil {
		return nil, false
	}
	node := follow(v.node)
	if node.Kind != yaml.SequenceNode {
		r.wrongKind(v, "a list")
		return nil, false
	}
	values := make([]value, len(node.Content))
	for i, n := range node.Content {
		at := v.at
		at.line, at.column, at.path = n.Line, n.Column, fmt.Sprintf("%s[%d]", v.at.path, i)
		if values[i] = (value{node: n, at: at}); kindOf(n) == kindNull {
			values[i].node = nil
		}
	}
	return values, true
}

func (r *reader) text(v value) said[string] {
	s := said[string]{at: v.at, given: v.given()}
	if v.node == nil {
		return s
	}
	switch node := follow(v.node); kindOf(node) {
	case kindString:
		if node.Style == 0 && slices.Contains(oldBools(), strings.ToLower(node.Value)) {
			r.errorf(v.at, "want a string, got %s, which is true or false to the installer and other readers of YAML 1.1: put it in quotes", quote(node.Value))
			return s
		}
		s.value, s.ok = node.Value, true
	case kindNumber, kindBool, kindDate:
		r.errorf(v.at, "want a string, got %s: put it in quotes", kindOf(node))
	default:
		r.wrongKind(v, "a string")
	}
	return s
}

// oldBools are words that YAML 1.1 reads as booleans and YAML 1.2 as text.
func oldBools() []string { return []string{"y", "yes", "on", "n", "no", "off"} }

// numeric are words that people write for numbers.
var numeric = regexp.MustCompile(`^[-+]?[0-9.][0-9.eE+-]*$`)

func (r *reader) number(v value) said[int] {
	s := said[int]{at: v.at, given: v.given()}
	if v.node == nil {
		return s
	}
	node := follow(v.node)
	kind := kindOf(node)
	huge := kind == kindString && node.Style == 0 && numeric.MatchString(node.Value) // more than the parser's numbers hold
	if kind != kindNumber && !huge {
		r.wrongKind(v, "a whole number")
		return s
	}
	if err := node.Decode(&s.value); err != nil || strings.ContainsAny(node.Value, ".") {
		r.errorf(v.at, "want a whole number, got %s: write digits only, such as 3", quote(node.Value))
		return s
	}
	s.ok = true
	return s
}

func (r *reader) wrongKind(v value, want string) {
	r.errorf(v.at, "want %s, got %s: write %s here", want, kindOf(follow(v.node)), want)
}
