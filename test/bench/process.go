package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/onprem-infra/onprem-infra/test/life"
)

// ticks is the kernel's unit of processor time in /proc, USER_HZ, which is the same on every
// machine that Linux has today.
const ticks = 100

// use is what one process has had.
type use struct {
	Container string  `json:"container"`
	Program   string  `json:"program"`
	CPU       float64 `json:"cpu_seconds"`
	RSS       int     `json:"rss_kb"`
}

// uses reads every process of a node's containers, by its number.
func uses(n *life.Node) (map[int]use, error) {
	found := map[int]use{}
	for _, container := range n.Containers() {
		processes, err := n.Processes(container)
		if err != nil {
			return nil, err
		}
		for _, p := range processes {
			cpu, err := processor(p.PID)
			if err != nil {
				continue // it has ended
			}
			found[p.PID] = use{Container: container, Program: p.Program, CPU: cpu, RSS: resident(p.PID)}
		}
	}
	return found, nil
}

// processor is the processor time of a process and of its children that have ended, in seconds.
func processor(pid int) (float64, error) {
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

// resident is a process's memory in kB.
func resident(pid int) (kb int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		_, _ = fmt.Sscanf(line, "VmRSS: %d kB", &kb) // other lines are others
	}
	return kb
}
