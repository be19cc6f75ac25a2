package file

import (
	"fmt"
	"math"

	"golang.org/x/sys/unix"
)

// Room is how many bytes, and how many more files, fit into a directory's file system. A number
// that the file system does not limit, or does not count, is math.MaxUint64.
func Room(dir string) (bytes, files uint64, err error) {
	var is unix.Statfs_t
	if err := unix.Statfs(dir, &is); err != nil {
		return 0, 0, fmt.Errorf("read the free space of %s: %w", dir, err)
	}
	bytes, files = uint64(is.Bavail)*uint64(is.Bsize), is.Ffree
	if is.Blocks == 0 { // a tmpfs without a limit, or a file system without blocks
		bytes = math.MaxUint64
	}
	if is.Files == 0 {
		files = math.MaxUint64
	}
	return bytes, files, nil
}

// Watchable watches a directory by inotify for a moment, and returns why this user can watch no
// more files; nil if it can.
func Watchable(dir string) error {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		return fmt.Errorf("open an inotify instance: %w", err)
	}
	defer unix.Close(fd)
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_CREATE); err != nil {
		return fmt.Errorf("watch %s: %w", dir, err)
	}
	return nil
}
