package proc

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Receiver is a UDP socket that receives at a port.
type Receiver struct {
	Inode uint32
	UID   int // of its user
}

// Receivers are the sockets of this network namespace that receive UDP at a port, of both families.
func Receivers(port uint16) (all []Receiver, err error) {
	for _, path := range []string{"/proc/self/net/udp", "/proc/self/net/udp6"} {
		text, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			continue // a kernel without that family
		} else if err != nil {
			return nil, fmt.Errorf("list UDP sockets: %w", err)
		}
		all = append(all, receivers(string(text), port)...)
	}
	return all, nil
}

// receivers reads the kernel's table (proc_pid_net(5)): the second column is the local address in
// hexadecimal digits with the port, the eighth one the user and the tenth one the inode.
func receivers(text string, port uint16) (all []Receiver) {
	want := strings.ToUpper(hex.EncodeToString([]byte{byte(port >> 8), byte(port)}))
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 10 {
			continue
		}
		_, at, _ := strings.Cut(words[1], ":")
		uid, errUID := strconv.Atoi(words[7])
		inode, errInode := strconv.ParseUint(words[9], 10, 32)
		if at == want && errUID == nil && errInode == nil {
			all = append(all, Receiver{Inode: uint32(inode), UID: uid})
		}
	}
	return all
}

// Sockets are the inodes of the sockets that a process has open. As another user than its own this
// needs the capability SYS_PTRACE.
func Sockets(pid int) (inodes []uint32, err error) {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	open, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list the sockets of process %d: %w", pid, err)
	}
	for _, fd := range open {
		target, err := os.Readlink(filepath.Join(dir, fd.Name()))
		if os.IsPermission(err) {
			return nil, fmt.Errorf("list the sockets of process %d: %w", pid, err)
		}
		var inode uint32
		if n, _ := fmt.Sscanf(target, "socket:[%d]", &inode); n == 1 {
			inodes = append(inodes, inode)
		}
	}
	return inodes, nil
}

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
