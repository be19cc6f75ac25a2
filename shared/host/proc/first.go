package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// First finds the first process of one of podman's containers by the command that it runs, whose
// words must be exactly these. It is for programs that cannot call podman. The error is
// os.ErrProcessDone when there is none.
func First(command []string) (*Process, error) {
	p, err := find(command, func(p *Process) bool {
		own, err := p.Of("libpod-")
		return err == nil && own && first(p.PID)
	})
	if err != nil {
		return nil, fmt.Errorf("find a container that runs %q: %w", strings.Join(command, " "), err)
	}
	return p, nil
}

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

// find finds a process that runs command and matches. The error is os.ErrProcessDone when there is
// none.
func find(command []string, matches func(*Process) bool) (*Process, error) {
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
		// Compared again, now that the number cannot become another's unnoticed.
		if matches(p) && runs(pid, command) && p.Signal(unix.Signal(0)) == nil {
			return p, nil
		}
		p.Close()
	}
	return nil, os.ErrProcessDone
}

func runs(pid int, command []string) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && len(command) > 0 && string(text) == strings.Join(command, "\x00")+"\x00"
}

// first reports whether a process is number 1 of a process namespace below ours.
func first(pid int) bool {
	numbers, err := status(pid, "NSpid")
	each := strings.Fields(numbers)
	return err == nil && len(each) > 1 && each[len(each)-1] == "1"
}
