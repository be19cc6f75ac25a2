package spec

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// field is one line of a map.
type field struct{ key, value *yaml.Node }

// object is a map of the document. The zero fields belong to one that is missing, so that its
// fields are missing in turn.
type object struct {
	at     place
	given  bool
	lost   bool
	fields map[string]field
	order  []string
	folded map[string][]string // the fields' names by fold
}

// get is the field of that name; a missing one stands where its map does.
func (o object) get(name string) value {
	at := o.at
	at.path = step(o.at.path, name)
	f, ok := o.fields[name]
	if !ok {
		return value{at: at, lost: o.lost}
	}
	at.line, at.column = f.value.Line, f.value.Column
	if kindOf(f.value) == kindNull {
		return value{at: at}
	}
	return value{node: f.value, at: at}
}

// key is where the name of a field stands.
func (o object) key(name string) place {
	at, key := o.at, o.fields[name].key
	at.path, at.line, at.column = step(at.path, name), key.Line, key.Column
	return at
}

// fold is what field names have in common that differ in case only. Going through the upper case
// takes the long s and the like along, as encoding/json does.
func fold(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// has reports whether an install-config's map holds a field of that name, in any case.
func (o object) has(name string) bool { return len(o.folded[fold(name)]) > 0 }

// field is a field of an install-config, whose own reader takes names in any case too. Two
// spellings of one name it reads in an order of its own, so that the user has to say which counts.
func (r *reader) field(o object, name string) value {
	same := o.folded[fold(name)]
	if len(same) == 0 {
		return o.get(name)
	}
	spelt := same[0]
	if _, exact := o.fields[name]; exact {
		spelt = name
	}
	if i := slices.IndexFunc(same, func(other string) bool { return other != spelt }); i >= 0 {
		r.errorf(o.key(same[i]), "is the same field as %s to the installer: remove one of the two", spelt)
	}
	v := o.get(spelt)
	if v.at.path = step(o.at.path, name); spelt != name {
		r.warnf(o.key(spelt), "is read as %s, as the installer reads it: spell it so", name)
	}
	return v
}

func (r *reader) object(v value) object {
	o := object{at: v.at, lost: v.lost}
	if v.node == nil {
		return o
	}
	node := follow(v.node)
	if node.Kind != yaml.MappingNode {
		r.wrongKind(v, "a map")
		o.lost = true
		return o
	}
	if known, ok := r.maps[node]; ok {
		known.at = v.at
		return known
	}
	o.given, o.fields, o.folded = true, map[string]field{}, map[string][]string{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		if kindOf(key) == kindMerge {
			at := v.at
			at.line, at.column, at.path = key.Line, key.Column, step(v.at.path, "<<")
			r.errorf(at, "merge keys are not read: write the fields out")
			o.lost = true // what is missing may be there
			continue
		}
		if _, twice := o.fields[key.Value]; !twice && key.Kind == yaml.ScalarNode {
			o.fields[key.Value] = field{key, node.Content[i+1]}
			o.order = append(o.order, key.Value)
			o.folded[fold(key.Value)] = append(o.folded[fold(key.Value)], key.Value)
		}
	}
	r.maps[node] = o
	return o
}
