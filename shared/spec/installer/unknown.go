package installer

import (
	"cmp"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/onprem-infra/onprem-infra/shared/near"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
)

// unknown reports fields of an install-config that the installer does not know.
type unknown struct {
	checker
	seen     map[*yaml.Node]bool // maps, however many aliases lead there
	reported map[[2]int]bool     // the lines and columns that have a finding already
	count    int
}

// unknownFields goes through the whole document.
func (r checker) unknownFields(root document.Map) {
	u := unknown{checker: r, seen: map[*yaml.Node]bool{}, reported: map[[2]int]bool{}}
	for _, f := range r.Findings {
		u.reported[[2]int{f.Line, f.Column}] = true
	}
	u.object(root, installConfigFields(), false)
}

// value checks a map, or the maps in a list. Another kind of value is not checked here.
func (u *unknown) value(v document.Value, known fields, hidden bool) {
	if v.Node == nil || known == nil {
		return
	}
	switch node := v.Target(); node.Kind {
	case yaml.MappingNode:
		if !u.seen[node] {
			u.seen[node] = true
			u.object(u.Map(v), known, hidden)
		}
	case yaml.SequenceNode:
		elements, _ := u.List(v)
		for _, e := range elements {
			if e.Node != nil && e.Target().Kind == yaml.MappingNode {
				u.value(e, known, hidden)
			}
		}
	}
}

func (u *unknown) object(o document.Map, known fields, hidden bool) {
	names := known.names()
	isPlatform := o.At.Path == "platform"
	for _, name := range o.Names {
		i := slices.IndexFunc(names,
			func(k string) bool { return document.Fold(k) == document.Fold(name) })
		switch {
		case i >= 0:
			v := o.Get(name)
			v.At.Path = document.Step(o.At.Path, names[i])
			u.value(v, known[names[i]], hidden || slices.Contains(confidential(), names[i]))
		case !isPlatform: // one that is not served has its finding
			u.report(o, name, names, hidden)
		}
	}
}

// plainKey is the form of fields' names.
var plainKey = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,39}$`)

func (u *unknown) report(o document.Map, name string, known []string, hidden bool) {
	at := o.Key(name)
	if u.reported[[2]int{at.Line, at.Column}] {
		return
	}
	what := "the installer knows no such field and refuses it"
	if hidden || !plainKey.MatchString(name) {
		at.Path = cmp.Or(o.At.Path, document.Whole)
		what = "the installer does not know a field that stands here and refuses it"
	}
	meant := ""
	if u.count++; u.count <= document.Most { // further findings are not shown
		meant = near.Word(name, known)
	}
	if meant != "" {
		u.Warnf(at, "%s: spell it %s where that is meant, or remove it", what, meant)
		return
	}
	u.Warnf(at, "%s: remove it", what)
}
