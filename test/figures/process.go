package figures

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ticks is the kernel's unit of processor time in /proc, USER_HZ, which is the same on every
// machine that Linux has today.
const ticks = 100

// Processor is the processor time of a process and of its children that have ended, in seconds.
func Processor(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const first, last = 11, 14 // utime to cstime, of proc(5), counted after the name
	sum := 0
	for i := first; i <= last; i++ {
		n, err := strconv.Atoi(fields[i])
		if err != nil {
			return 0, fmt.Errorf("read /proc/%d/stat: %w", pid, err)
		}
		sum += n
	}
	return float64(sum) / ticks, nil
}

// Resident is a process's memory in kB.
func Resident(pid int) (kb int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		_, _ = fmt.Sscanf(line, "VmRSS: %d kB", &kb) // other lines are others
	}
	return kb
}
