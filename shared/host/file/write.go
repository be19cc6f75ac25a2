// Package file writes files whole or not at all, and wakes its caller when files change.
package file

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

// Write replaces the file at path by data with exactly the permission bits of mode, whatever the
// umask. A reader sees the old file or the new one, also after a loss of power. The directory must
// exist. When Write fails the old file is untouched.
func Write(path string, data []byte, mode fs.FileMode) error {
	return write(path, data, mode, func(*os.File) error { return nil })
}

func write(path string, data []byte, mode fs.FileMode, prepare func(*os.File) error) error {
	// The temporary file is beside the target: another directory may be another mount, and in a
	// container often is.
	pending, err := renameio.NewPendingFile(path,
		renameio.WithTempDir(filepath.Dir(path)), renameio.WithStaticPermissions(mode))
	if err != nil {
		return fmt.Errorf("write %s: %w", path, cause(err))
	}
	_, err = pending.Write(data)
	if err == nil {
		err = prepare(pending.File)
	}
	if err == nil {
		err = pending.CloseAtomicallyReplace()
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, errors.Join(cause(err), cause(pending.Cleanup())))
	}
	return nil
}

// cause is an error without the name of the temporary file, which is another one each time: equal
// failures must have equal texts, so that they can be reported once.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// WriteIfChanged is Write unless the file holds data with that mode already; it reports whether it
// wrote.
func WriteIfChanged(path string, data []byte, mode fs.FileMode) (changed bool, err error) {
	same, err := holds(path, data, mode)
	if err != nil || same {
		return false, err
	}
	err = Write(path, data, mode)
	return err == nil, err
}

// Update is WriteIfChanged for a small file whose content must not be late. If there is no room for
// a second file it writes over the first one, if that has room: a reader in the same moment gets
// the new bytes, or the new bytes with newlines behind them.
func Update(path string, data []byte, mode fs.FileMode) (changed bool, err error) {
	changed, err = WriteIfChanged(path, data, mode)
	if !errors.Is(err, unix.ENOSPC) && !errors.Is(err, unix.EDQUOT) {
		return changed, err
	}
	if inPlace(path, data) != nil {
		return false, err
	}
	return true, nil
}

// inPlace writes over a file within the blocks that it has.
func inPlace(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	var is unix.Stat_t
	err = unix.Fstat(int(f.Fd()), &is)
	if err == nil && int64(len(data)) > is.Blocks*512 {
		err = unix.ENOSPC
	}
	if err == nil {
		rest := bytes.Repeat([]byte{'\n'}, max(int(is.Size)-len(data), 0))
		_, err = f.Write(slices.Concat(data, rest))
	}
	if err == nil {
		err = f.Truncate(int64(len(data)))
	}
	return errors.Join(err, f.Close())
}

func holds(path string, data []byte, mode fs.FileMode) (bool, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read %s: %w", path, err)
	case !info.Mode().IsRegular() || info.Mode().Perm() != mode.Perm():
		return false, nil
	}
	have, err := os.ReadFile(path)
	if err != nil {
		return false, fmt.Errorf("read %s: %w", path, err)
	}
	return bytes.Equal(have, data), nil
}

// Overwrite writes a few bytes over the beginning of the file at path, and creates it if it does
// not exist. It is for content that changes every second and has always one length: replacing a
// file wakes those that watch its directory five times, and this does once. A reader gets the old
// bytes or the new ones, but not after a loss of power.
func Overwrite(path string, data []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, mode)
	if err != nil {
		return fmt.Errorf("write over %s: %w", path, err)
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write over %s: %w", path, err)
	}
	return nil
}
