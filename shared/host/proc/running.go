package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Running finds a process of this process name space by the command that it runs, whose words must be exactly these. It is for containers that
// share the processes of one pod: there nobody else is to be seen. It looks at nothing that another container's process would need a
// capability for. The error is os.ErrProcessDone when there is none.
func Running(command []string) (*Process, error) {
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return nil, err
	}
	for _, line := range lines {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(line)))
		if err != nil || !runs(pid, command) {
			continue
		}
		p, err := Open(pid)
		if err != nil {
			continue // it has ended
		}
		// Looked at once more, now that the number cannot become another's unseen.
		if runs(pid, command) && p.Signal(unix.Signal(0)) == nil {
			return p, nil
		}
		p.Close()
	}
	return nil, fmt.Errorf("look for a process that runs %q: %w", strings.Join(command, " "), os.ErrProcessDone)
}
