package document

import (
	"cmp"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// trail is the way from the root to a node. Paths are written out for findings only: a deep
// document would fill the memory with them.
type trail struct {
	up    *trail
	key   string
	index int // of a list element, when key is empty
}

func (t *trail) path() string {
	const most = 16 // steps, so that a finding in a very deep document stays one line
	var steps []*trail
	for ; t != nil; t = t.up {
		steps = append(steps, t)
	}
	path := ""
	if len(steps) > most {
		path, steps = "…", steps[:most]
	}
	for i := len(steps) - 1; i >= 0; i-- {
		if steps[i].key == "" {
			path = fmt.Sprintf("%s[%d]", path, steps[i].index)
			continue
		}
		path = Step(path, steps[i].key)
	}
	return path
}

// duplicates reports each key that stands twice in one map: of two values, readers disagree which
// counts. Aliases are not entered, so every node is seen once. The pull secret is not entered
// either.
func (r *Reader) duplicates(n *yaml.Node, up *trail) {
	if n.Kind == yaml.SequenceNode {
		for i, c := range n.Content {
			r.duplicates(c, &trail{up: up, index: i})
		}
	}
	if n.Kind != yaml.MappingNode {
		return
	}
	first := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, child := n.Content[i], n.Content[i+1]
		here := &trail{up: up, key: key.Value, index: i / 2}
		if key.Kind != yaml.ScalarNode {
			r.Errorf(Place{r.file, key.Line, key.Column, cmp.Or(up.path(), Whole)},
				"a key in it is a map, a list or an alias: write plain text as the key")
			continue
		}
		if f, twice := first[key.Value]; twice {
			r.Errorf(Place{r.file, key.Line, key.Column, here.path()},
				"stands here and at line %d, column %d: remove one of the two", f.Line, f.Column)
			continue
		}
		first[key.Value] = key
		if up != nil || Fold(key.Value) != Fold("pullSecret") {
			r.duplicates(child, here)
		}
	}
}
