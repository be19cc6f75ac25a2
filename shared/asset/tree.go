package asset

import (
	"cmp"
	"slices"
	"strings"
)

// PresetPath is the preset file that stands for the Enabled of a plain tree's units. systemd
// applies it at a true first boot, or by `systemctl preset-all`.
const PresetPath = "/etc/systemd/system-preset/20-onprem-infra.preset"

// Tree is the set as plain files, units among them, by path: what a host has on its disk when the
// set has been put there.
func (s Set) Tree() []File {
	tree := s.Files()
	add := func(path string, contents []byte, by string) {
		tree = append(tree, File{Path: path, Mode: 0o644, Contents: contents, By: by})
	}
	var preset strings.Builder
	for _, u := range s.units {
		if len(u.Contents) > 0 {
			add(unitPath(u.Name), u.Contents, u.By)
		}
		for _, d := range u.DropIns {
			add(dropInPath(u.Name, d.Name), d.Contents, u.By)
		}
		if u.Enabled {
			preset.WriteString("enable " + u.Name + "\n")
		}
	}
	if preset.Len() > 0 {
		add(PresetPath, []byte(preset.String()), "shared/asset")
	}
	slices.SortFunc(tree, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return tree
}

// Paths are those of Tree.
func (s Set) Paths() []string {
	var paths []string
	for _, f := range s.Tree() {
		paths = append(paths, f.Path)
	}
	return paths
}
