// Package owner names things that outlive a process (namespaces, directories, control groups) after
// the process that made them, so that the next run knows what a dead one left behind.
package owner

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Self is the name of this process: "PID.START".
func Self() (string, error) {
	start, err := startTime(os.Getpid())
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d.%s", os.Getpid(), start), nil
}

// Dead says whether name begins with the name of a process that is gone. Other names are nobody's,
// so not a dead one's.
func Dead(name string) bool {
	parts := strings.Split(name, ".")
	if len(parts) < 2 {
		return false
	}
	pid, err := strconv.Atoi(parts[0])
	if err != nil {
		return false
	}
	start, err := startTime(pid)
	return err != nil || start != parts[1]
}

// startTime is when a process started, in clock ticks after boot: with the pid it names a process
// for good.
func startTime(pid int) (string, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	// The command's name, in parentheses, may hold anything.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	const startTime = 19 // field 22 of proc(5), counted after the name
	if len(fields) <= startTime {
		return "", fmt.Errorf("read /proc/%d/stat: %d fields", pid, len(fields))
	}
	return fields[startTime], nil
}
