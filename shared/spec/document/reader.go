package document

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Value is one value of the document; Node is nil if nothing, or null, is there. Lost values are
// inside something of the wrong kind, which has been reported.
type Value struct {
	Node *yaml.Node
	At   Place
	lost bool
}

func newValue(n *yaml.Node, at Place) Value {
	if kindOf(n) == kindNull {
		n = nil
	}
	return Value{Node: n, At: at}
}

// Given reports whether the user wrote something, right or wrong.
func (v Value) Given() bool { return v.Node != nil || v.lost }

// Word is the text of a field that is not checked; empty if another kind of value is there.
func (v Value) Word() (string, bool) {
	if v.Node == nil || kindOf(v.Node) != kindString {
		return "", false
	}
	return follow(v.Node).Value, true
}

// Target is the value itself, or the value that an alias stands for.
func (v Value) Target() *yaml.Node { return follow(v.Node) }

// Reader reads values out of a document and reports those of the wrong kind. It enters an alias
// only where the schema does, so that a document cannot unfold into more than was written.
type Reader struct {
	Report
	file string
	want string
	maps map[*yaml.Node]Map // read once each, however many aliases lead there
}

// NewReader makes a reader of a file. want is what the document should be, in words.
func NewReader(file, want string) *Reader {
	return &Reader{file: file, want: want, maps: map[*yaml.Node]Map{}}
}

// Read reads the one document of a file, and reports keys that it has twice. The path of the value
// is empty, so that the paths of fields begin with their names. It is false if there is nothing to
// read.
func (r *Reader) Read(text []byte) (Value, bool) {
	node, ok := r.document(text)
	if !ok {
		return Value{}, false
	}
	r.duplicates(node, nil)
	at := r.place(node.Line, node.Column)
	if follow(node).Kind == yaml.MappingNode {
		at.Path = ""
	}
	return Value{Node: node, At: at}, true
}

// List is the elements of a list, and whether there is one.
func (r *Reader) List(v Value) ([]Value, bool) {
	if v.Node == nil {
		return nil, false
	}
	node := follow(v.Node)
	if node.Kind != yaml.SequenceNode {
		r.wrongKind(v, "a list")
		return nil, false
	}
	values := make([]Value, len(node.Content))
	for i, n := range node.Content {
		values[i] = newValue(n, v.At.of(n, fmt.Sprintf("%s[%d]", v.At.Path, i)))
	}
	return values, true
}

// Text reads a text.
func (r *Reader) Text(v Value) Scalar[string] {
	s := Scalar[string]{At: v.At, Given: v.Given()}
	if v.Node == nil {
		return s
	}
	switch node := follow(v.Node); kindOf(node) {
	case kindString:
		if node.Style == 0 && slices.Contains(OldBools(), strings.ToLower(node.Value)) {
			r.Errorf(v.At, "want a string, got %s, which is true or false to the "+
				"installer and other readers of YAML 1.1: put it in quotes", Quote(node.Value))
			return s
		}
		s.Value, s.OK = node.Value, true
	case kindNumber, kindBool, kindDate:
		r.Errorf(v.At, "want a string, got %s: put it in quotes", kindOf(node))
	default:
		r.wrongKind(v, "a string")
	}
	return s
}

// OldBools are words that YAML 1.1 reads as booleans and YAML 1.2 as text.
func OldBools() []string { return []string{"y", "yes", "on", "n", "no", "off"} }

// numeric are words that people write for numbers.
var numeric = regexp.MustCompile(`^[-+]?[0-9.][0-9.eE+-]*$`)

// Number reads a whole number.
func (r *Reader) Number(v Value) Scalar[int] {
	s := Scalar[int]{At: v.At, Given: v.Given()}
	if v.Node == nil {
		return s
	}
	node := follow(v.Node)
	kind := kindOf(node)
	// the parser reads a number as a string if it cannot hold it
	huge := kind == kindString && node.Style == 0 && numeric.MatchString(node.Value)
	if kind != kindNumber && !huge {
		r.wrongKind(v, "a whole number")
		return s
	}
	if err := node.Decode(&s.Value); err != nil || strings.ContainsAny(node.Value, ".") {
		r.Errorf(v.At, "want a whole number, got %s: write digits only, such as 3",
			Quote(node.Value))
		return s
	}
	s.OK = true
	return s
}

func (r *Reader) wrongKind(v Value, want string) {
	r.Errorf(v.At, "want %s, got %s: write %s here", want, kindOf(follow(v.Node)), want)
}
