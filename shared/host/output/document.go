package output

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
)

// Document writes one file. An existing file keeps its permissions, but those that Private takes
// away; ours reports whether its text is of the kind that the verb writes. A device or a pipe is
// written into. A dry run only checks.
func (p Place) Document(data []byte, ours func(text []byte) bool) (Outcome, error) {
	done := Outcome{Path: p.Path, Action: Create}
	info, err := os.Stat(p.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := errors.Join(dangling(p.Path),
			access(filepath.Dir(p.Path), writeHere)); err != nil ||
			p.DryRun {
			return done, place(p.Path, err)
		}
		return done, because(p.Path, p.write(p.Path, data, 0o644))
	case errors.Is(err, syscall.ENOTDIR):
		return done, PlaceError{p.Path, filepath.Dir(p.Path) + " is not a directory"}
	case err != nil:
		return done, because(p.Path, err)
	case info.IsDir():
		return done, PlaceError{p.Path, "it is a directory"}
	case info.Mode().IsRegular():
		return p.replace(info, data, ours)
	}
	if err := access(p.Path, writeTo); err != nil || p.DryRun {
		return done, because(p.Path, err)
	}
	return done, into(p.Path, data)
}

// Check reports, before any work, what Document would refuse.
func (p Place) Check(ours func(text []byte) bool) error {
	p.DryRun = true
	_, err := p.Document([]byte{0}, ours)
	return err
}

// replace writes over a regular file.
func (p Place) replace(info fs.FileInfo, data []byte, ours func([]byte) bool) (Outcome, error) {
	done := Outcome{Path: p.Path}
	have, err := readBounded(os.Open(p.Path))
	if err != nil {
		return done, because(p.Path, err)
	}
	if done.Action, err = p.judge(p.Path, info, have, data, ours); err != nil {
		return done, err
	}
	target, err := filepath.EvalSymlinks(p.Path)
	if err != nil {
		return done, err
	}
	if err := access(filepath.Dir(target), writeHere); err != nil || p.DryRun {
		return done, because(p.Path, err)
	}
	return done, because(p.Path, p.write(target, data, info.Mode().Perm()))
}

// write writes a file with what remains of these permissions.
func (p Place) write(path string, data []byte, perm fs.FileMode) error {
	return undisturbed(func() error { return file.Write(path, data, p.mode(perm)) })
}

// mode is what remains of a file's permissions.
func (p Place) mode(perm fs.FileMode) fs.FileMode {
	if p.Private {
		return perm &^ 0o077
	}
	return perm
}

// readBounded reads a file that has been opened.
func readBounded(f fs.File, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, mostRead))
}

// into writes to a device or a pipe. A rename would put a file in its place: for root, /dev/null
// would be gone.
func into(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// because names the file or the tree that could not be written, as the user did, and the remedy if
// it is known.
func because(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("write %s: there is no directory %s: make it, or name another place",
			path, filepath.Dir(path))
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("write %s: %w: name a place on another file system", path, syscall.EROFS)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("write %s: %w: name a place where you may write, or do it as a user "+
			"who may", path, fs.ErrPermission)
	}
	return err
}
