package document

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/onprem-infra/onprem-infra/shared/near"
)

// field is one line of a map.
type field struct{ key, value *yaml.Node }

// Map is a map of the document. All fields of a missing map are missing.
type Map struct {
	At    Place
	Given bool
	Lost  bool     // it could not be read, which has been reported
	Names []string // of its fields, in the order of the document

	fields map[string]field
	folded map[string][]string // the fields' names by Fold
}

// Get is the field of that name; a missing one has the place of its map.
func (o Map) Get(name string) Value {
	path := Step(o.At.Path, name)
	f, ok := o.fields[name]
	if !ok {
		at := o.At
		at.Path = path
		return Value{At: at, lost: o.Lost}
	}
	return newValue(f.value, o.At.of(f.value, path))
}

// Key is the place of a field's name.
func (o Map) Key(name string) Place {
	return o.At.of(o.fields[name].key, Step(o.At.Path, name))
}

// Fold is equal for field names that differ in case only. The detour over the upper case includes
// letters such as the long s, as encoding/json does.
func Fold(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// Has reports whether an install-config's map holds a field of that name, in any case.
func (o Map) Has(name string) bool { return len(o.folded[Fold(name)]) > 0 }

// Field is a field of an install-config. The installer reads names in any case too, and two
// spellings of one name in an order of its own, so the user has to choose one.
func (r *Reader) Field(o Map, name string) Value {
	same := o.folded[Fold(name)]
	if len(same) == 0 {
		return o.Get(name)
	}
	spelt := same[0]
	if _, exact := o.fields[name]; exact {
		spelt = name
	}
	if i := slices.IndexFunc(same, func(other string) bool { return other != spelt }); i >= 0 {
		r.Errorf(o.Key(same[i]),
			"is the same field as %s to the installer: remove one of the two", spelt)
	}
	v := o.Get(spelt)
	if v.At.Path = Step(o.At.Path, name); spelt != name {
		r.Warnf(o.Key(spelt), "is read as %s, as the installer reads it: spell it so", name)
	}
	return v
}

// Map reads a map.
func (r *Reader) Map(v Value) Map {
	o := Map{At: v.At, Lost: v.lost}
	if v.Node == nil {
		return o
	}
	node := follow(v.Node)
	if node.Kind != yaml.MappingNode {
		r.wrongKind(v, "a map")
		o.Lost = true
		return o
	}
	if known, ok := r.maps[node]; ok {
		known.At = v.At
		return known
	}
	o.Given, o.fields, o.folded = true, map[string]field{}, map[string][]string{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		if kindOf(key) == kindMerge {
			r.Errorf(v.At.of(key, Step(v.At.Path, "<<")),
				"merge keys are not read: write the fields out")
			o.Lost = true // what is missing may be there
			continue
		}
		if _, twice := o.fields[key.Value]; !twice && key.Kind == yaml.ScalarNode {
			o.fields[key.Value] = field{key, node.Content[i+1]}
			o.Names = append(o.Names, key.Value)
			o.folded[Fold(key.Value)] = append(o.folded[Fold(key.Value)], key.Value)
		}
	}
	r.maps[node] = o
	return o
}

// Known reports every field of a map that is not known.
func (r *Reader) Known(o Map, known ...string) {
	for _, name := range o.Names {
		i := slices.IndexFunc(known, func(k string) bool { return Alike(k, name) })
		switch {
		case slices.Contains(known, name):
		case i >= 0:
			r.Errorf(o.Key(name), "there is no such field: spell it %s", known[i])
		case near.Word(name, known) != "":
			r.Errorf(o.Key(name),
				"there is no such field: spell it %s where that is meant, or remove it",
				near.Word(name, known))
		default:
			r.Errorf(o.Key(name), "there is no such field: remove it, or use one of %s",
				strings.Join(known, ", "))
		}
	}
}

// Alike reports whether two field names differ in case and underscores only.
func Alike(a, b string) bool {
	plain := func(s string) string { return strings.ReplaceAll(s, "_", "") }
	return strings.EqualFold(plain(a), plain(b))
}
