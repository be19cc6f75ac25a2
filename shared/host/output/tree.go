package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/asset"
)

// Tree writes files below a directory, and removes those at the paths in leave. All of them are
// written beside their places before the first one is moved into its own, so that a full disk, or
// something in the way, leaves the directory as it was. If a move itself fails, or a removal after
// it, the moved files stay: the next run continues from there. A link that leads out of the
// directory is not followed. ours reports whether an existing file is of the kind that the verb
// writes.
func (p Place) Tree(files []asset.File, leave []string,
	ours func(path string, text []byte) bool) (done []Outcome, err error) {
	absent, err := p.ground()
	if err != nil {
		return nil, place(p.Path, err)
	}
	if len(absent) > 0 && p.DryRun {
		for _, f := range files {
			done = append(done, Outcome{Path: f.Path, Action: Create})
		}
		return done, nil
	}
	defer func() {
		if err != nil {
			for _, dir := range absent {
				_ = os.Remove(dir)
			}
		}
	}()
	root, err := open(p.Path)
	if err != nil {
		return nil, because(p.Path, fmt.Errorf("write tree %s: %w", p.Path, err))
	}
	defer root.Close()
	if done, err = p.compare(root, files, ours); err != nil {
		return nil, err
	}
	for _, path := range leave {
		if err := room(root, below(path)); err != nil {
			return nil, at(root, path, "remove", err)
		}
		done = append(done, Outcome{Path: path, Action: Remove})
	}
	if p.DryRun {
		return done, nil
	}
	return done, undisturbed(func() error { return write(root, files, leave) })
}

// open makes the directory if it is not there.
func open(path string) (*os.Root, error) {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, err
	}
	return os.OpenRoot(path)
}

// below is a path of a tree from its root on.
func below(path string) string { return strings.TrimPrefix(path, "/") }

// compare compares the files with the existing ones.
func (p Place) compare(root *os.Root, files []asset.File,
	ours func(path string, text []byte) bool) (done []Outcome, err error) {
	var foreign ForeignError
	for _, f := range files {
		action, err := p.one(root, f, func(text []byte) bool { return ours(f.Path, text) })
		if one := (ForeignError{}); errors.As(err, &one) {
			foreign.Paths = append(foreign.Paths, one.Paths...)
		} else if err != nil {
			return nil, err
		}
		done = append(done, Outcome{Path: f.Path, Action: action})
	}
	if len(foreign.Paths) > 0 {
		return nil, foreign
	}
	return done, nil
}

// room reports whether a file can be made, or removed, below a directory.
func room(root *os.Root, name string) error {
	dir, _, err := ground(root.Stat, root.Name(), filepath.Dir(name))
	if err != nil {
		return err
	}
	return access(dir, writeHere)
}

// one compares one file. A link to nothing, or out of the tree, belongs to another program: --force
// replaces it.
func (p Place) one(root *os.Root, f asset.File, ours func(text []byte) bool) (Action, error) {
	name := below(f.Path)
	path := filepath.Join(p.Path, name)
	if err := room(root, name); err != nil {
		return "", at(root, name, "write", err)
	}
	info, err := root.Stat(name)
	switch {
	case err != nil:
		target, errLink := os.Readlink(path)
		if errLink == nil && !p.Force {
			return "", PlaceError{path, "it is a symbolic link to " + target +
				", which is not in the tree (--force replaces the link)"}
		}
		return Create, nil // there is nothing, or the link goes
	case info.IsDir():
		return "", PlaceError{path, "it is a directory"}
	case !info.Mode().IsRegular():
		return Create, nil
	}
	have, err := readBounded(root.Open(name))
	if err != nil {
		return "", at(root, name, "read", err)
	}
	action, err := p.judge(path, info, have, f.Contents, ours)
	if action == Keep && info.Mode().Perm() != f.Mode {
		action = Change
	}
	return action, err
}

// at names the file of a tree that an error is about.
func at(root *os.Root, name, doing string, err error) error {
	path := filepath.Join(root.Name(), name)
	return place(path, fmt.Errorf("%s %s: %w", doing, path, err))
}

// write puts the files into their places, and takes away what is to leave.
func write(root *os.Root, files []asset.File, leave []string) error {
	s := stage{root: root}
	defer s.clear()
	for _, f := range files {
		if err := s.add(f); err != nil {
			return at(root, f.Path, "write", err)
		}
	}
	if err := s.commit(); err != nil {
		return err
	}
	for _, path := range slices.Sorted(slices.Values(leave)) {
		if err := root.Remove(below(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return at(root, path, "remove", err)
		}
	}
	return nil
}
