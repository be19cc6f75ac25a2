package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// PlaceError is an output that cannot be written to where it is.
type PlaceError struct{ Path, Why string }

func (e PlaceError) Error() string {
	return fmt.Sprintf("write %s: %s: name another output", e.Path, e.Why)
}

// Directory reports whether a tree can be written at the place: it is a directory, or one can be
// made there.
func (p Place) Directory() error {
	_, err := p.ground()
	return place(p.Path, err)
}

// ground are the directories that are to be made for a tree, the deepest one first.
func (p Place) ground() (absent []string, err error) {
	dir, absent, err := ground(os.Stat, "", p.Path)
	if err == nil && len(absent) > 0 {
		err = access(dir, writeHere)
	}
	return absent, err
}

// ground is the first directory at or above a path that exists. absent are those between the two,
// the deepest one first. The path is below base for a stat that knows paths below it only.
func ground(stat func(string) (fs.FileInfo, error),
	base, path string) (dir string, absent []string, err error) {
	for path := filepath.Clean(path); ; path = filepath.Dir(path) {
		dir = filepath.Join(base, path)
		info, err := stat(path)
		switch {
		case errors.Is(err, syscall.ENOTDIR): // the file is above
		case errors.Is(err, fs.ErrNotExist) && path != filepath.Dir(path):
			if err := dangling(dir); err != nil {
				return dir, nil, err
			}
			absent = append(absent, dir)
		case err != nil:
			return dir, nil, err // or the working directory is gone
		case !info.IsDir():
			return dir, nil, PlaceError{Why: dir + " is not a directory"}
		default:
			return dir, absent, nil
		}
	}
}

// dangling refuses a symbolic link to nothing: a file in its place would not be where it leads.
func dangling(path string) error {
	target, err := os.Readlink(path)
	if err != nil {
		return nil
	}
	why := fmt.Sprintf("%s is a symbolic link to %s, which does not exist", path, target)
	return PlaceError{Why: why}
}

// The permissions that access asks for, as access(2) has them.
const (
	writeTo   = 2
	writeHere = 2 | 1 // and search a directory
)

// access reports whether the caller may write, without writing. Like an open it goes by the
// effective user and capabilities: access(2) goes by the real user, which has no capabilities.
func access(path string, mode uint32) error {
	const here, effective = -100, 0x200 // AT_FDCWD, AT_EACCESS
	if err := syscall.Faccessat(here, path, mode, effective); err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}

// place names what was to be written in an error about its place.
func place(path string, err error) error {
	if wrong := (PlaceError{}); errors.As(err, &wrong) {
		wrong.Path = path
		return wrong
	}
	return because(path, err)
}
