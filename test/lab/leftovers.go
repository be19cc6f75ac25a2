package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	netnsDir = "/run/netns"
	// namePrefix starts the name of every namespace of every lab; the owner's pid and start time follow.
	namePrefix = "onprem-lab."
)

// alive returns the start time of a process, in clock ticks after boot: with the pid it names a process for good.
func alive(pid int) (start string, err error) {
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

// removeLeftovers removes the namespaces of labs whose owner is gone.
func removeLeftovers() error {
	entries, err := os.ReadDir(netnsDir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		parts := strings.SplitN(strings.TrimPrefix(e.Name(), namePrefix), ".", 4)
		if !strings.HasPrefix(e.Name(), namePrefix) || len(parts) != 4 {
			continue
		}
		pid, err := strconv.Atoi(parts[0])
		if err != nil {
			continue
		}
		if start, err := alive(pid); err == nil && start == parts[1] {
			continue
		}
		errs = append(errs, removeNamespaces(e.Name()))
	}
	return errors.Join(errs...)
}

// removeNamespaces removes the namespaces whose names start with prefix, and first ends the processes in them.
func removeNamespaces(prefix string) error {
	paths, err := filepath.Glob(filepath.Join(netnsDir, prefix+"*"))
	if err != nil {
		return err
	}
	var errs []error
	for _, path := range paths {
		errs = append(errs, endProcesses(path), ip("netns", "delete", filepath.Base(path)))
	}
	return errors.Join(errs...)
}

// endProcesses kills what runs in a namespace and waits until it is gone. Only processes that this lab let in can be there.
func endProcesses(path string) error {
	var ns syscall.Stat_t
	if err := syscall.Stat(path, &ns); err != nil {
		return err
	}
	for deadline := time.Now().Add(10 * time.Second); ; {
		pids, err := processesIn(ns)
		if err != nil || len(pids) == 0 {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("processes %v stay in %s", pids, path)
		}
		for _, pid := range pids {
			// It may have gone by itself.
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// processesIn lists the processes of a network namespace.
func processesIn(ns syscall.Stat_t) ([]int, error) {
	links, err := filepath.Glob("/proc/[0-9]*/ns/net")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, link := range links {
		var st syscall.Stat_t
		if syscall.Stat(link, &st) != nil || st.Dev != ns.Dev || st.Ino != ns.Ino {
			continue
		}
		if pid, err := strconv.Atoi(strings.Split(link, "/")[2]); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}
