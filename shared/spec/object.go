package spec

import "go.yaml.in/yaml/v3"

// field is one line of a map.
type field struct{ key, value *yaml.Node }

// object is a map of the document. The zero fields belong to one that is missing, so that its fields are missing in turn.
type object struct {
	at     place
	given  bool
	lost   bool
	fields map[string]field
	order  []string
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
	o.given, o.fields = true, map[string]field{}
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
		}
	}
	r.maps[node] = o
	return o
}
