package vm

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// groupTrees are the control group hierarchies that systemd needs a branch of: version 2 and the
// named version 1 of a hybrid machine, or version 2 alone.
func groupTrees() []string {
	const root = "/sys/fs/cgroup"
	var trees []string
	for _, dir := range []string{root + "/unified", root + "/systemd"} {
		if _, err := os.Stat(dir + "/cgroup.procs"); err == nil {
			trees = append(trees, dir)
		}
	}
	if len(trees) == 0 {
		trees = []string{root}
	}
	return trees
}

// makeGroups makes a branch of each tree for a machine.
func makeGroups(name string) error {
	var errs []error
	for _, tree := range groupTrees() {
		errs = append(errs, os.MkdirAll(filepath.Join(tree, name), 0o755))
	}
	return errors.Join(errs...)
}

// removeGroups removes the branches, leaves first. The kernel releases a group a moment after its
// last process, which on a busy machine takes seconds to end when it was killed.
func removeGroups(name string) error {
	var err error
	for range 500 {
		err = nil
		for _, tree := range groupTrees() {
			err = errors.Join(err, removeGroup(filepath.Join(tree, name)))
		}
		if err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}

func removeGroup(root string) error {
	var dirs []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs = append(dirs, path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	slices.Reverse(dirs)
	for _, dir := range dirs {
		err = errors.Join(err, os.Remove(dir))
	}
	return err
}
