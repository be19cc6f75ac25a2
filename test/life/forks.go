package life

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/vishvananda/netlink"
)

// Started counts the processes that the containers of a node start during a time, threads not
// counted, by what the kernel reports of every fork. It shows of each which program started it.
func (n *Node) Started(during time.Duration) ([]string, error) {
	family := map[uint32]bool{}
	for _, name := range n.Containers() {
		pid, err := n.PID(name)
		if err != nil {
			return nil, err
		}
		family[uint32(pid)] = true
	}
	if err := adopt(family); err != nil {
		return nil, err
	}
	events, done, faults := make(chan netlink.ProcEvent, 1024), make(chan struct{}), make(chan error, 1)
	defer close(done)
	if err := netlink.ProcEventMonitor(events, done, faults); err != nil {
		return nil, fmt.Errorf("listen to the kernel's process events: %w", err)
	}
	var started []string
	end := time.After(during)
	for {
		select {
		case event := <-events:
			fork, ok := event.Msg.(*netlink.ForkProcEvent)
			if ok && fork.ChildPid == fork.ChildTgid && family[fork.ParentTgid] {
				family[fork.ChildTgid] = true
				started = append(started, program(fork.ParentTgid))
			}
		case err := <-faults:
			return started, err
		case <-end:
			return started, nil
		}
	}
}

// adopt adds the descendants of a family's processes.
func adopt(family map[uint32]bool) error {
	for grown := true; grown; {
		grown = false
		stats, err := filepath.Glob("/proc/[0-9]*/stat")
		if err != nil {
			return err
		}
		for _, path := range stats {
			text, err := os.ReadFile(path)
			if err != nil {
				continue // it has ended
			}
			fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
			parent, err := strconv.ParseUint(fields[1], 10, 32)
			if err != nil {
				return err
			}
			pid, err := strconv.ParseUint(filepath.Base(filepath.Dir(path)), 10, 32)
			if err != nil {
				return err
			}
			if family[uint32(parent)] && !family[uint32(pid)] {
				family[uint32(pid)], grown = true, true
			}
		}
	}
	return nil
}

func program(pid uint32) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return fmt.Sprintf("process %d, which has ended", pid)
	}
	return strings.TrimSpace(strings.ReplaceAll(string(text), "\x00", " "))
}
