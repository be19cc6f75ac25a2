package document

import "go.yaml.in/yaml/v3"

// maxValues is how many values a document may have once each alias is replaced by what it stands
// for: as many as bytes, so that no honest document comes near. Other readers replace them all.
const maxValues = Limit

// unfolding counts the values of a document without unfolding it.
type unfolding struct {
	*Reader
	sizes map[*yaml.Node]int // of what aliases stand for; 0 while it is being counted
	found bool
}

// unFold reports the first place where aliases make the document explode, or a value contain
// itself.
func (r *Reader) unFold(root *yaml.Node) {
	u := unfolding{Reader: r, sizes: map[*yaml.Node]int{}}
	u.size(root)
}

// size is the number of values that n stands for, at most one more than maxValues. An anchor stands
// before its aliases, so it has been counted, or is being counted, when one of them is met: no
// alias leads deeper than the document is.
func (u *unfolding) size(n *yaml.Node) int {
	if n.Kind == yaml.AliasNode {
		size := u.sizes[n.Alias]
		if size == 0 {
			u.once(n,
				"this alias stands inside its own anchor, without an end: write the value out")
		}
		return max(1, size)
	}
	if n.Anchor != "" {
		u.sizes[n] = 0
	}
	size := 1
	for _, child := range n.Content {
		if size += u.size(child); size > maxValues {
			size = maxValues + 1
		}
	}
	if size > maxValues {
		u.once(n, "its aliases unfold it to more than %d values: write out what is needed",
			maxValues)
	}
	if n.Anchor != "" {
		u.sizes[n] = size
	}
	return size
}

// once reports the first fault only: the others follow from it.
func (u *unfolding) once(n *yaml.Node, format string, args ...any) {
	if !u.found {
		u.Errorf(u.place(n.Line, n.Column), format, args...)
		u.found = true
	}
}
