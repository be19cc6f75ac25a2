package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Owner is a process that has a socket open.
type Owner struct {
	PID    int
	Name   string
	Parent string // the name of its parent; empty if that has ended
}

// String is the process in words, as "bird (process 12)".
func (o Owner) String() string { return fmt.Sprintf("%s (process %d)", o.Name, o.PID) }

// Owners are the processes that have sockets open, by their inodes, in the order of their numbers.
// It sees processes of this process namespace, and as root those of all users.
func Owners(inodes []uint32) map[uint32][]Owner {
	wanted := map[string]uint32{}
	for _, inode := range inodes {
		wanted[fmt.Sprintf("socket:[%d]", inode)] = inode
	}
	all, _ := filepath.Glob("/proc/[0-9]*/fd/[0-9]*") // the pattern is a correct one
	owners := map[uint32][]Owner{}
	for _, fd := range all {
		target, err := os.Readlink(fd)
		inode, ok := wanted[target]
		if err != nil || !ok {
			continue // or it has been closed meanwhile
		}
		pid, _ := strconv.Atoi(strings.Split(fd, "/")[2])
		o := Owner{PID: pid, Name: name(pid)}
		if o.Name == "" {
			continue // it has ended meanwhile
		}
		if text, err := status(pid, "PPid"); err == nil {
			if parent, err := strconv.Atoi(text); err == nil && parent > 0 {
				o.Parent = name(parent)
			}
		}
		if !slices.Contains(owners[inode], o) {
			owners[inode] = append(owners[inode], o)
		}
	}
	for _, all := range owners {
		slices.SortFunc(all, func(a, b Owner) int { return a.PID - b.PID })
	}
	return owners
}

// name is a process's own; empty if it has ended.
func name(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return strings.TrimSpace(string(text))
}
