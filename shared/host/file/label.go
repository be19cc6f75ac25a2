package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// label is SELinux's extended attribute.
const label = "security.selinux"

// WriteLabelled is WriteIfChanged for a file that programs in SELinux domains of their own must be
// able to read: the new file has the label of the former one, or of the first of like that has one.
// Without labels on the host it is WriteIfChanged. Temporary files of a process that was killed in
// an earlier write are removed.
func WriteLabelled(path string, data []byte, mode fs.FileMode,
	like ...string) (changed bool, err error) {
	if err := sweep(path); err != nil {
		return false, err
	}
	same, err := holds(path, data, mode)
	if err != nil || same {
		return false, err
	}
	err = write(path, data, mode, func(f *os.File) error {
		for _, p := range append([]string{path}, like...) {
			if text, ok := labelOf(p); ok {
				return relabel(f, text)
			}
		}
		return nil
	})
	return err == nil, err
}

// labelOf is the label of a file, not of a link, which has one of its own.
func labelOf(path string) ([]byte, bool) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil, false
	}
	text := make([]byte, 4096) // a label is shorter than a page
	n, err := unix.Lgetxattr(path, label, text)
	return text[:max(n, 0)], err == nil && n > 0
}

func relabel(f *os.File, text []byte) error {
	if err := unix.Fsetxattr(int(f.Fd()), label, text, 0); err != nil &&
		!errors.Is(err, unix.ENOTSUP) {
		return fmt.Errorf("label %s: %w", f.Name(), err)
	}
	return nil
}

// sweep removes temporary files for path that no writer holds any more. There is one writer of a
// path.
func sweep(path string) error {
	dir, name := filepath.Split(path)
	leftovers, err := filepath.Glob(dir + "." + name + "[0-9]*")
	if err != nil {
		return fmt.Errorf("find leftovers of %s: %w", path, err)
	}
	for _, l := range leftovers {
		if err := os.Remove(l); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove a leftover: %w", err)
		}
	}
	return nil
}
