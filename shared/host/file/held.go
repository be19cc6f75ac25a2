package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Held is a lock that others see without locking anything themselves (F_OFD_SETLK, fcntl(2)). The
// kernel ends it with its process, however that ends. The zero value holds nothing. It is for one
// goroutine.
type Held struct{ file *os.File }

// Hold locks the file at path. If the file is missing it makes one, which is locked before it has
// its name. If it holds the file at path already, it does nothing. ok is false while another
// process holds it.
func (h *Held) Hold(path string) (ok bool, err error) {
	if same, err := h.holds(path); same || err != nil {
		return same, err
	}
	err = h.close() // what it held was removed, or replaced
	f, errOpen := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(errOpen, fs.ErrNotExist) {
		f, errOpen = made(path)
	}
	if err = errors.Join(err, errOpen); err != nil {
		return false, err
	}
	if err := lock(f, unix.F_OFD_SETLK); err != nil {
		_ = f.Close() // nothing was written
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
			return false, nil
		}
		return false, fmt.Errorf("lock %s: %w", path, err)
	}
	h.file = f
	return h.holds(path) // its former holder may have removed it meanwhile
}

// Release removes the file, and ends the lock after that.
func (h *Held) Release(path string) error {
	same, err := h.holds(path)
	if same {
		err = Remove(path)
	}
	return errors.Join(err, h.close())
}

func (h *Held) close() error {
	if h.file == nil {
		return nil
	}
	f := h.file
	h.file = nil
	return f.Close()
}

// holds reports whether the file at path is the one that is held.
func (h *Held) holds(path string) (bool, error) {
	if h.file == nil {
		return false, nil
	}
	return named(h.file, path)
}

// named reports whether an open file is the one at path.
func named(f *os.File, path string) (bool, error) {
	own, err := f.Stat()
	if err != nil {
		return false, err
	}
	is, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(own, is), err
}

// made is a new file that gets its name when it is locked. If another process has made one
// meanwhile, it is that one, without a lock.
func made(path string) (*os.File, error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path))
	if err != nil {
		return nil, fmt.Errorf("make %s: %w", path, cause(err))
	}
	err = errors.Join(lock(f, unix.F_OFD_SETLK), f.Chmod(0o644))
	if err == nil {
		err = os.Link(f.Name(), path) // which replaces no file
	}
	errRemove := os.Remove(f.Name())
	switch {
	case errors.Is(err, fs.ErrExist):
		errClose := f.Close()
		f, err = os.OpenFile(path, os.O_RDWR, 0)
		return f, errors.Join(err, errClose, errRemove)
	case err != nil:
		return nil, errors.Join(fmt.Errorf("make %s: %w", path, cause(err)), f.Close(), errRemove)
	}
	return f, errRemove
}

func lock(f *os.File, command int) error {
	return unix.FcntlFlock(f.Fd(), command, whole())
}

// whole is an exclusive lock on all of a file.
func whole() *unix.Flock_t { return &unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart} }

// Abandoned reports whether a file is there that no process holds any more: its holder has ended
// without Release.
func Abandoned(path string) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	defer f.Close()
	is := whole()
	if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, is); err != nil {
		return false, fmt.Errorf("find out who holds %s: %w", path, err)
	}
	if is.Type != unix.F_UNLCK {
		return false, nil
	}
	return named(f, path) // Release removes it, and may have done so since it was opened
}
