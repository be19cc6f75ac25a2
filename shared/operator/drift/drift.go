// Package drift compares a host's files with a plan, and reports what fixing them does to the host.
//
// It only reads, and it reports no secret of a file.
package drift

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/operator/ownership"
	"github.com/onprem-infra/onprem-infra/shared/operator/redact"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// Kind is how a file of a host differs from the plan's.
type Kind string

// The kinds.
const (
	Missing    Kind = "missing"     // the plan has it, and the host has not
	Differs    Kind = "differs"     // its text; its permissions may differ beside
	Mode       Kind = "permissions" // its text is the plan's
	LeftOver   Kind = "left over"   // this plan gives it to no host of the role
	Disabled   Kind = "not enabled" // a unit, which the host would not start by itself
	Unreadable Kind = "unreadable"  // it could not be read
)

// Wanted is what a host should be.
type Wanted struct {
	Role    role.Role
	Plan    plan.Plan
	Goods   asset.Set
	There   *plan.Plan // of the host's cluster.json; nil without a valid one
	Retired []string   // paths that other plans give to such hosts
}

// Change is one file, or one unit, that is not as the plan has it.
type Change struct {
	Path    string   `json:"path"` // of a unit's file where a unit is not enabled
	Kind    Kind     `json:"kind"`
	Note    string   `json:"note,omitempty"` // for people; the wording may change
	Diff    string   `json:"diff,omitempty"` // unified, to the plan's text, without secrets
	Effects []Effect `json:"effects"`        // of fixing it, the worst one first

	others  bool   // the host's file is another program's, by the same name
	knownBy string // the address that the host is known by now
}

// Report is the result of a comparison.
type Report struct {
	Compared int      `json:"looked"` // files and units
	Changes  []Change `json:"changes"`
	Worst    Level    `json:"worst"` // of all effects
}

// Compare compares a host's files; root is its /. The changes are in the order of their paths.
func Compare(root fs.FS, w Wanted) Report {
	r := Report{Changes: []Change{}}
	tree := w.Goods.Tree()
	for _, f := range tree {
		if f.Path == asset.PresetPath {
			continue // each unit is checked: a host with links needs no preset
		}
		r.Compared++
		if c, same := w.compare(root, f); !same {
			r.Changes = append(r.Changes, c)
		}
	}
	r.units(root, w.Goods.Units())
	r.Changes = append(r.Changes, w.left(root, tree)...)
	slices.SortStableFunc(r.Changes,
		func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	r.Worst = Nothing
	for _, c := range r.Changes {
		for _, e := range c.Effects {
			r.Worst = slices.MaxFunc([]Level{r.Worst, e.Level}, Level.Compare)
		}
	}
	return r
}

// units reports the units that the host does not start. A unit whose file is missing has that
// change already.
func (r *Report) units(root fs.FS, wanted []asset.Unit) {
	enabled := enabledUnits(root)
	for _, u := range wanted {
		if !u.Enabled {
			continue
		}
		r.Compared++
		if enabled[u.Name] {
			continue
		}
		file, starts := path.Join(asset.UnitDir, u.Name), Effect{Level: Later,
			Text: "it starts at a boot once it is enabled: systemctl enable --now " + u.Name}
		at := slices.IndexFunc(r.Changes,
			func(c Change) bool { return c.Path == file && c.Kind == Missing })
		if at >= 0 {
			r.Changes[at].Effects = append(r.Changes[at].Effects, starts)
			continue
		}
		r.Changes = append(r.Changes, Change{Path: file, Kind: Disabled,
			Note: "the host does not start it by itself", Effects: []Effect{starts}})
	}
}

// compare compares one file.
func (w Wanted) compare(root fs.FS, f asset.File) (c Change, same bool) {
	c = Change{Path: f.Path}
	text, mode, err := read(root, f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.Kind, c.Note = Missing, fmt.Sprintf("%d lines, mode %04o",
			strings.Count(string(f.Contents), "\n"), f.Mode)
	case err != nil:
		c.Kind, c.Note = Unreadable, redact.OneLine(err.Error())
		c.Effects = one(Unknown, "the host's file cannot be read, so the effect of the plan's "+
			"file is not known: run this as root")
		return c, false
	case string(text) != string(f.Contents):
		c.Kind, c.knownBy = Differs, knownBy(root)
		c.others = !ownership.Marked(text)
		c.Diff, c.Note = redact.Difference(f.Path, text, f.Contents, mode&f.Mode&0o004 != 0)
		if mode != f.Mode {
			c.Note = strings.TrimPrefix(c.Note+"; "+modes(mode, f.Mode), "; ")
		}
	case mode != f.Mode:
		c.Kind, c.Note = Mode, modes(mode, f.Mode)
	default:
		return c, true
	}
	c.Effects = w.effects(c, f.Mode&^mode&0o111 != 0)
	return c, false
}

func modes(is, want fs.FileMode) string {
	return fmt.Sprintf("mode %04o, and %04o in the plan", is, want)
}

// left are the files that other plans give and this one does not.
func (w Wanted) left(root fs.FS, tree []asset.File) (all []Change) {
	for _, p := range ownership.Left(root, tree, w.Retired) {
		all = append(all, Change{Path: p, Kind: LeftOver,
			Note: "this plan gives it to no " + string(w.Role), Effects: []Effect{w.remains(p)}})
	}
	return all
}

// mostRead bounds what is read of a file; those of the plan are a hundredth of it.
const mostRead = 4 << 20

// read returns a regular file of the host with its permissions.
func read(root fs.FS, name string) ([]byte, fs.FileMode, error) {
	info, err := fs.Stat(root, inside(name))
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is no regular file there", name)
	}
	if info.Size() > mostRead {
		return nil, 0, fmt.Errorf("%s has %d bytes there, and is no file of ours", name,
			info.Size())
	}
	text, err := fs.ReadFile(root, inside(name))
	return text, info.Mode().Perm(), err
}

// inside is a host's path as a file system names it.
func inside(p string) string { return strings.TrimPrefix(path.Clean(p), "/") }

// enabledUnits are the units that the host starts: by a link, or by a preset at the first boot.
func enabledUnits(root fs.FS) map[string]bool {
	enabled := map[string]bool{}
	for _, pattern := range []string{"*.wants", "*.requires"} {
		dirs, _ := fs.Glob(root, inside(asset.UnitDir)+"/"+pattern) // only a bad pattern fails
		for _, dir := range dirs {
			entries, _ := fs.ReadDir(root, dir) // an unreadable one enables nothing
			for _, e := range entries {
				enabled[e.Name()] = true
			}
		}
	}
	presets, _ := fs.Glob(root, inside(path.Dir(asset.PresetPath))+"/*.preset")
	for _, preset := range presets {
		text, _, _ := read(root, preset)
		for line := range strings.Lines(string(text)) {
			if word := strings.Fields(line); len(word) > 1 && word[0] == "enable" {
				enabled[word[1]] = true
			}
		}
	}
	return enabled
}
