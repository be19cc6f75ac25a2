package file

import (
	"fmt"
	"os"
	"syscall"
)

// Unlinked reports whether the file at path has no name any more in the directory that it came
// from: it is a mount of its own, and was removed there, or replaced by a rename.
func Unlinked(path string) (bool, error) {
	info, err := os.Stat(path)
	if err != nil {
		return false, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false, fmt.Errorf("count the names of %s: the system does not report them", path)
	}
	return stat.Nlink == 0, nil
}
