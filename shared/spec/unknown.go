package spec

import (
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/onprem-infra/onprem-infra/shared/near"
)

// unknown reports fields of an install-config that the installer does not know.
type unknown struct {
	*reader
	seen  map[*yaml.Node]bool // maps, however many aliases lead there
	told  map[place]bool      // where a finding says already what is wrong with a field
	count int
}

// unknownFields goes through the whole document, after everything that is read has been.
func (r *reader) unknownFields(root object) {
	u := unknown{reader: r, seen: map[*yaml.Node]bool{}, told: map[place]bool{}}
	for _, f := range r.findings {
		u.told[place{file: f.File, line: f.Line, column: f.Column}] = true
	}
	u.object(root, installConfigFields(), false)
}

// value goes into a map, or into the maps of a list. What is of another kind has its finding where
// it is read, or is nobody's business.
func (u *unknown) value(v value, known fields, hidden bool) {
	if v.node == nil || known == nil {
		return
	}
	switch node := follow(v.node); node.Kind {
	case yaml.MappingNode:
		if !u.seen[node] {
			u.seen[node] = true
			u.object(u.reader.object(v), known, hidden)
		}
	case yaml.SequenceNode:
		elements, _ := u.list(v)
		for _, e := range elements {
			if e.node != nil && follow(e.node).Kind == yaml.MappingNode {
				u.value(e, known, hidden)
			}
		}
	}
}

func (u *unknown) object(o object, known fields, hidden bool) {
	names := known.names()
	isPlatform := o.at.path == "platform"
	for _, name := range o.order {
		i := slices.IndexFunc(names, func(k string) bool { return fold(k) == fold(name) })
		switch {
		case i >= 0:
			v := o.get(name)
			v.at.path = step(o.at.path, names[i])
			u.value(v, known[names[i]], hidden || slices.Contains(confidential(), names[i]))
		case !isPlatform: // one that is not served has its finding
			u.report(o, name, names, hidden)
		}
	}
}

// plainKey is what names of fields look like.
var plainKey = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,39}$`)

func (u *unknown) report(o object, name string, known []string, hidden bool) {
	at := o.key(name)
	if u.told[place{file: at.file, line: at.line, column: at.column}] {
		return
	}
	what := "the installer knows no such field and refuses it"
	if hidden || !plainKey.MatchString(name) {
		at.path, what = o.at.path, "the installer does not know a field that stands here and refuses it"
	}
	if at.path == "" {
		at.path = wholeDocument
	}
	meant := ""
	if u.count++; u.count <= most { // more findings than that nobody is shown
		meant = near.Word(name, known)
	}
	if meant != "" {
		u.warnf(at, "%s: spell it %s where that is meant, or remove it", what, meant)
		return
	}
	u.warnf(at, "%s: remove it", what)
}
