package debian

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Modules are the kernel's modules in a tree, by modules.dep(5).
type Modules struct {
	Dir     string
	Version string              // of the kernel
	files   map[string]string   // by the module's name
	depends map[string][]string // files by file, relative to Dir
}

// NewModules reads the list of a tree with one kernel.
func NewModules(tree string) (*Modules, error) {
	dirs, err := filepath.Glob(filepath.Join(tree, "usr/lib/modules/*"))
	if err != nil || len(dirs) != 1 {
		return nil, fmt.Errorf("the root has modules of the kernels %v, %v, want one", dirs, err)
	}
	m := &Modules{Dir: dirs[0], Version: filepath.Base(dirs[0]), files: map[string]string{}, depends: map[string][]string{}}
	text, err := os.ReadFile(filepath.Join(m.Dir, "modules.dep"))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		file, depends, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			return nil, fmt.Errorf("%s/modules.dep has the line %q", m.Dir, line)
		}
		m.files[moduleName(file)], m.depends[file] = file, strings.Fields(depends)
	}
	return m, nil
}

// moduleName is a module as the kernel names it: file names may have hyphens.
func moduleName(file string) string {
	name, _, _ := strings.Cut(filepath.Base(file), ".ko")
	return strings.ReplaceAll(name, "-", "_")
}

// Needed are the files of modules and of those that they need, which come first. A name without a
// file is part of the kernel itself.
func (m *Modules) Needed(names ...string) (files []string) {
	for _, name := range names {
		file, ok := m.files[moduleName(name)]
		if !ok {
			continue
		}
		// modules.dep names what to load first last, and has the modules of modules too.
		before := slices.Clone(m.depends[file])
		slices.Reverse(before)
		for _, one := range append(before, file) {
			if !slices.Contains(files, one) {
				files = append(files, one)
			}
		}
	}
	return files
}

// Prune removes the files of all modules but these and those that they need.
func (m *Modules) Prune(drivers ...string) error {
	keep := m.Needed(drivers...)
	for file := range m.depends {
		if slices.Contains(keep, file) {
			continue
		}
		if err := os.Remove(filepath.Join(m.Dir, file)); err != nil {
			return err
		}
	}
	return nil
}
