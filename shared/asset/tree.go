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
	var preset strings.Builder
	for _, u := range s.units {
		if len(u.Contents) > 0 {
			tree = append(tree,
				File{Path: unitPath(u.Name), Mode: 0o644, Contents: u.Contents, By: u.By})
		}
		for _, d := range u.DropIns {
			tree = append(tree,
				File{Path: dropInPath(u.Name, d.Name), Mode: 0o644, Contents: d.Contents, By: u.By})
		}
		if u.Enabled {
			preset.WriteString("enable " + u.Name + "\n")
		}
	}
	if preset.Len() > 0 {
		tree = append(tree,
			File{Path: PresetPath, Mode: 0o644, Contents: []byte(preset.String()),
				By: "shared/asset"})
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
