package output

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
)

// Document writes one file. A file that is there keeps its permissions; ours says whether its text
// is of the kind that the verb writes. A device or a pipe is written into.
func (p Place) Document(data []byte, ours func(text []byte) bool) (Outcome, error) {
	done := Outcome{Path: p.Path, Action: Create}
	info, err := os.Stat(p.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if p.DryRun {
			_, err = os.Stat(filepath.Dir(p.Path))
			return done, because(p.Path, err)
		}
		return done, because(p.Path, file.Write(p.Path, data, 0o644))
	case err != nil:
		return done, because(p.Path, err)
	case info.Mode().IsRegular():
		return p.replace(info, data, ours)
	case p.DryRun:
		return done, nil
	}
	return done, into(p.Path, data)
}

// Check reports, before any work is done, that Document would write over an input.
func (p Place) Check() error {
	info, err := os.Stat(p.Path)
	if err != nil || !info.Mode().IsRegular() {
		return nil // Document says what is wrong with it
	}
	_, err = p.judge(p.Path, info, []byte{}, []byte{0}, func([]byte) bool { return true })
	return err
}

// replace writes over a regular file.
func (p Place) replace(info fs.FileInfo, data []byte, ours func([]byte) bool) (Outcome, error) {
	done := Outcome{Path: p.Path}
	have, err := readBounded(os.Open(p.Path))
	if err != nil {
		return done, because(p.Path, err)
	}
	done.Action, err = p.judge(p.Path, info, have, data, ours)
	if err != nil || p.DryRun {
		return done, err
	}
	target, err := filepath.EvalSymlinks(p.Path)
	if err != nil {
		return done, err
	}
	return done, because(p.Path, file.Write(target, data, info.Mode().Perm()))
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

// because says why a file or a tree could not be written, by the name that the user gave it, and
// what to do where that is known.
func because(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("write %s: there is no directory %s: make it, or name another place", path, filepath.Dir(path))
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("write %s: %w: name a place where you may write, or do it as a user who may", path, fs.ErrPermission)
	}
	return err
}
