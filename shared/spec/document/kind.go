package document

import "go.yaml.in/yaml/v3"

// The kinds of value, as findings name them.
const (
	kindMap    = "a map"
	kindList   = "a list"
	kindString = "a string"
	kindNumber = "a number"
	kindBool   = "true or false"
	kindDate   = "a date"
	kindNull   = "nothing"
	kindMerge  = "a merge key"
	kindTagged = "a value with a tag"
)

func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return kindMap
	case yaml.SequenceNode:
		return kindList
	case yaml.AliasNode:
		return kindOf(n.Alias) // an anchor is never on an alias
	}
	switch n.ShortTag() {
	case "!!str":
		return kindString
	case "!!int", "!!float":
		return kindNumber
	case "!!bool":
		return kindBool
	case "!!timestamp":
		return kindDate
	case "!!null":
		return kindNull
	case "!!merge":
		return kindMerge
	}
	return kindTagged
}

// follow is the value that an alias stands for.
func follow(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}
