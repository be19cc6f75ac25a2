package proc

import (
	"fmt"
	"strings"
)

// Running finds a process of this process name space by the command that it runs, whose words must
// be exactly these. It is for containers that share the processes of one pod: there nobody else is
// to be seen. It looks at nothing that another container's process would need a capability for. The
// error is os.ErrProcessDone when there is none.
func Running(command []string) (*Process, error) {
	p, err := find(command, func(*Process, int) bool { return true })
	if err != nil {
		return nil, fmt.Errorf("look for a process that runs %q: %w", strings.Join(command, " "), err)
	}
	return p, nil
}
