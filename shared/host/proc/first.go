package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// First finds the first process of a container of podman by the command that it runs, whose words
// must be exactly these. It is for those who cannot ask podman. The error is os.ErrProcessDone when
// there is none.
func First(command []string) (*Process, error) {
	p, err := find(command, func(p *Process, pid int) bool {
		own, err := p.Of("libpod-")
		return err == nil && own && first(pid)
	})
	if err != nil {
		return nil, fmt.Errorf("look for a container that runs %q: %w", strings.Join(command, " "), err)
	}
	return p, nil
}

// find finds a process that runs command and is the one that is meant. The error is
// os.ErrProcessDone when there is none.
func find(command []string, meant func(p *Process, pid int) bool) (*Process, error) {
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
		if meant(p, pid) && runs(pid, command) && p.Signal(unix.Signal(0)) == nil {
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

// first says whether a process is number 1 of a process name space below ours.
func first(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return false
	}
	_, numbers, _ := bytes.Cut(text, []byte("\nNSpid:"))
	numbers, _, _ = bytes.Cut(numbers, []byte("\n"))
	each := bytes.Fields(numbers)
	return len(each) > 1 && string(each[len(each)-1]) == "1"
}
