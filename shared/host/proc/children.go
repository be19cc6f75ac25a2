package proc

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Children are the processes that a process of one thread has started and that have not been
// reaped.
func Children(pid int) (all []int, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", pid))
	if err != nil {
		return nil, fmt.Errorf("list the children of process %d: %w", pid, err)
	}
	for word := range strings.FieldsSeq(string(text)) {
		child, err := strconv.Atoi(word)
		if err != nil {
			return nil, fmt.Errorf("list the children of process %d: %w", pid, err)
		}
		all = append(all, child)
	}
	return all, nil
}
