package vm

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// unmountBelow takes away what is mounted below a directory, the last first.
func unmountBelow(dir string) error {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	var errs []error
	for _, line := range slices.Backward(slices.Collect(strings.Lines(string(text)))) {
		const point = 4 // of proc_pid_mountinfo(5)
		fields := strings.Fields(line)
		if len(fields) <= point || !strings.HasPrefix(fields[point], dir+"/") {
			continue
		}
		if err := unix.Unmount(fields[point], unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) { // another process may be faster
			errs = append(errs, fmt.Errorf("unmount %s: %w", fields[point], err))
		}
	}
	return errors.Join(errs...)
}
