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

	"github.com/onprem-infra/onprem-infra/test/owner"
)

const (
	netnsDir = "/run/netns"
	// namePrefix starts the name of every namespace of every lab; its owner follows.
	namePrefix = "onprem-lab."
)

// removeLeftovers removes the namespaces of labs whose owner has exited.
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
		if name, ours := strings.CutPrefix(e.Name(), namePrefix); ours && owner.Dead(name) {
			errs = append(errs, removeNamespaces(e.Name()))
		}
	}
	return errors.Join(errs...)
}

// removeNamespaces removes the namespaces whose names start with prefix, and first kills the
// processes in them.
func removeNamespaces(prefix string) error {
	paths, err := filepath.Glob(filepath.Join(netnsDir, prefix+"*"))
	if err != nil {
		return err
	}
	var errs []error
	for _, path := range paths {
		err := errors.Join(endProcesses(path), ip("netns", "delete", filepath.Base(path)))
		if _, gone := os.Stat(path); gone == nil { // else another process was faster
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// endProcesses kills the processes in a namespace and waits until they have exited. All of them are
// of this lab.
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
			// It may have exited by itself.
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
