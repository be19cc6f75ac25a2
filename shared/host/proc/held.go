package proc

import (
	"bytes"
	"fmt"
	"os"
)

// Held says whether a signal has stopped a process, as SIGSTOP does. One that a tracer has stopped is not held: a debugger lets it go on by
// itself. A process that is not there is not held either. It reads /proc, which must be of this process namespace.
func Held(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	// The state stands after the name, which is in parentheses and may hold some itself.
	after := text[bytes.LastIndexByte(text, ')')+1:]
	return bytes.HasPrefix(after, []byte(" T "))
}
