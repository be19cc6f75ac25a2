package pods

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Process is one of a container's.
type Process struct {
	PID, Parent int    // as this machine counts
	Program     string // its name, as the kernel keeps it
}

// Processes are all processes of a container, POD/CONTAINER, threads not counted, by their number.
func (n *Node) Processes(name string) ([]Process, error) {
	c, err := n.container(name)
	if err != nil {
		return nil, err
	}
	paths, err := filepath.Glob("/proc/[0-9]*/cgroup")
	if err != nil {
		return nil, err
	}
	var found []Process
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), ":/"+c.id+"\n") {
			continue // it has ended, or is another's
		}
		if p, err := readProcess(filepath.Dir(path)); err == nil {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(a, b Process) int { return a.PID - b.PID })
	return found, nil
}

// readProcess reads /proc/PID/stat.
func readProcess(dir string) (p Process, err error) {
	text, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return p, err
	}
	number, rest, _ := strings.Cut(string(text), " (")
	end := strings.LastIndex(rest, ") ")
	if end < 0 {
		return p, fmt.Errorf("read %s/stat: %q", dir, text)
	}
	p.Program = rest[:end]
	if p.PID, err = strconv.Atoi(number); err != nil {
		return p, err
	}
	p.Parent, err = strconv.Atoi(strings.Fields(rest[end+2:])[1])
	return p, err
}

// SignalAll sends a signal to every process of a container, or to those of some programs alone,
// parents before their children. That none is there is an error.
func (n *Node) SignalAll(name string, sig syscall.Signal, programs ...string) error {
	all, err := n.Processes(name)
	if err != nil {
		return err
	}
	hit := 0
	for _, p := range all {
		if len(programs) > 0 && !slices.Contains(programs, p.Program) {
			continue
		}
		if err := syscall.Kill(p.PID, sig); err == nil {
			hit++
		} else if !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("send %v to process %d (%s) of %s on %s: %w", sig, p.PID, p.Program, name, n.Host.Name, err)
		}
	}
	if hit == 0 {
		return fmt.Errorf("send %v to %s on %s: no process of %v runs, of %v", sig, name, n.Host.Name, programs, all)
	}
	return nil
}

// Child is the process of a container that was started by one of the same program, as keepalived
// starts its VRRP process and HAProxy its worker.
func (n *Node) Child(name, program string) (Process, error) {
	all, err := n.Processes(name)
	if err != nil {
		return Process{}, err
	}
	for _, p := range all {
		if p.Program == program && slices.ContainsFunc(all, func(o Process) bool { return o.PID == p.Parent && o.Program == program }) {
			return p, nil
		}
	}
	return Process{}, fmt.Errorf("%s on %s has no process of %s that another one has started, of %v", name, n.Host.Name, program, all)
}

// container is one of a pod that runs.
func (n *Node) container(name string) (*container, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	podName, containerName, _ := strings.Cut(name, "/")
	if p := n.pods[podName]; p != nil && p.containers[containerName] != nil {
		return p.containers[containerName], nil
	}
	return nil, fmt.Errorf("no container %s on %s", name, n.Host.Name)
}
