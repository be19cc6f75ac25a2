package proc

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
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
// It sees what Owners sees.
func OfSocket(inode uint32) (names []string) {
	for _, o := range Owners([]uint32{inode})[inode] {
		names = append(names, o.String())
	}
	return names
}
