package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// OfSocket names the processes that have a socket open, by its inode, as "dnsmasq (process 12)".
// It sees processes of this process namespace, and as root those of all users.
func OfSocket(inode uint32) (names []string) {
	link := fmt.Sprintf("socket:[%d]", inode)
	all, _ := filepath.Glob("/proc/[0-9]*/fd/[0-9]*") // the pattern is a correct one
	var pids []int
	for _, fd := range all {
		if target, err := os.Readlink(fd); err != nil || target != link {
			continue // or it has been closed meanwhile
		}
		pid, _ := strconv.Atoi(strings.Split(fd, "/")[2])
		pids = append(pids, pid)
	}
	slices.Sort(pids)
	for _, pid := range slices.Compact(pids) {
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		if err != nil {
			continue
		}
		names = append(names, fmt.Sprintf("%s (process %d)", strings.TrimSpace(string(name)), pid))
	}
	return names
}
