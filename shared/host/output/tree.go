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
// something in the way, leaves the directory as it was. Where a move itself fails, or a removal
// after it, what has been moved stays: writing again goes on from there. A link that leads out of
// the directory is not followed. ours says whether a file that is there is of the kind that the verb writes.
func (p Place) Tree(files []asset.File, leave []string, ours func(path string, text []byte) bool) (done []Outcome, err error) {
	root, made, err := p.open()
	if err != nil {
		return nil, because(p.Path, fmt.Errorf("write tree %s: %w", p.Path, err))
	}
	if root == nil { // a dry run, and there is no such directory
		for _, f := range files {
			done = append(done, Outcome{Path: f.Path, Action: Create})
		}
		return done, nil
	}
	defer func() {
		if err != nil && made {
			_ = os.Remove(p.Path)
		}
	}()
	defer root.Close()
	if done, err = p.compare(root, files, ours); err != nil {
		return nil, err
	}
	for _, path := range leave {
		done = append(done, Outcome{Path: path, Action: Remove})
	}
	if p.DryRun {
		return done, nil
	}
	return done, write(root, files, leave)
}

// open makes the directory if it is not there; made says so.
func (p Place) open() (root *os.Root, made bool, err error) {
	_, err = os.Stat(p.Path)
	absent := errors.Is(err, fs.ErrNotExist)
	if absent && p.DryRun {
		return nil, false, nil
	}
	if err := os.MkdirAll(p.Path, 0o755); err != nil {
		return nil, false, err
	}
	root, err = os.OpenRoot(p.Path)
	return root, absent, err
}

// compare looks at what is in the places of the files.
func (p Place) compare(root *os.Root, files []asset.File, ours func(path string, text []byte) bool) (done []Outcome, err error) {
	var foreign ForeignError
	for _, f := range files {
		name := strings.TrimPrefix(f.Path, "/")
		info, err := root.Stat(name)
		if err != nil || !info.Mode().IsRegular() {
			done = append(done, Outcome{Path: f.Path, Action: Create}) // or write says what is wrong with it
			continue
		}
		have, err := readBounded(root.Open(name))
		if err != nil {
			return nil, at(root, name, "read", err)
		}
		action, err := p.judge(filepath.Join(p.Path, name), info, have, f.Contents, func(text []byte) bool { return ours(f.Path, text) })
		if action == Keep && info.Mode().Perm() != f.Mode {
			action = Change
		}
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

// at names the file of a tree that an error is about.
func at(root *os.Root, name, doing string, err error) error {
	path := filepath.Join(root.Name(), name)
	return because(path, fmt.Errorf("%s %s: %w", doing, path, err))
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
		if err := root.Remove(strings.TrimPrefix(path, "/")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return at(root, path, "remove", err)
		}
	}
	return nil
}
