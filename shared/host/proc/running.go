package proc

import (
	"fmt"
	"strings"
)

// Running finds a process of this process namespace by the command that it runs, whose words must
// be exactly these. It is for containers that share the processes of one pod, in which no others
// are visible. It reads nothing of another container's process that needs a capability. The error
// is os.ErrProcessDone when there is none.
func Running(command []string) (*Process, error) {
	p, err := find(command, func(*Process) bool { return true })
	if err != nil {
		return nil, fmt.Errorf("find a process that runs %q: %w", strings.Join(command, " "), err)
	}
	return p, nil
}
