package life

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// Started is what the containers of a node started during a time.
type Started struct {
	Programs []string // of each process the program that started it
	// Lost is how often the kernel dropped reports, as this machine was too busy to read them. Then
	// Programs may lack processes that have ended.
	Lost int
}

// Started counts the processes that the containers of a node start during a time, threads not
// counted, by what the kernel reports of every fork.
func (n *Node) Started(during time.Duration) (s Started, err error) {
	family := map[uint32]bool{}
	for _, name := range n.Containers() {
		pid, err := n.PID(name)
		if err != nil {
			return s, err
		}
		family[uint32(pid)] = true
	}
	f, err := listenForks(forksBuffer)
	if err != nil {
		return s, err
	}
	defer f.Close()
	if _, err := adopt(family); err != nil {
		return s, err
	}
	return f.count(family, time.Now().Add(during))
}

// forksBuffer holds the forks of a busy machine while this process does not run: 16 loops that fork
// make some thousand a second, each of them about a kilobyte of the buffer.
const forksBuffer = 64 << 20

// forks are the kernel's reports of every process that is started on this machine.
type forks struct{ *nl.NetlinkSocket }

// The reports of connector(7), from linux/connector.h and linux/cn_proc.h.
const (
	procIndex, procValue = 1, 1
	procListen           = 1

	// In a message: the header of netlink, that of the connector, and struct proc_event.
	whatAt      = unix.SizeofNlMsghdr + 20
	parentAt    = whatAt + 20 // the parent's thread group
	childPidAt  = whatAt + 24
	childTgidAt = whatAt + 28
	forkLength  = whatAt + 32
	whatFork    = 1
)

// listenForks begins to receive forks of processes. The kernel drops everything else before it
// takes room in the buffer: forks of threads, and what the processes do then.
func listenForks(buffer int) (f forks, err error) {
	s, err := nl.Subscribe(unix.NETLINK_CONNECTOR)
	if err != nil {
		return f, fmt.Errorf("listen to the kernel's process events: %w", err)
	}
	f = forks{s}
	request := nl.NetlinkRequest{}
	request.Pid, request.Type, request.Len = uint32(os.Getpid()), unix.NLMSG_DONE, unix.SizeofNlMsghdr
	request.AddData(nl.NewCnMsg(procIndex, procValue, procListen))
	err = errors.Join(f.SetReceiveBufferSize(buffer, true), onlyForks(f.GetFd()))
	if err == nil { // nothing that arrives has passed by the filter
		const member = unix.NETLINK_ADD_MEMBERSHIP
		err = unix.SetsockoptInt(f.GetFd(), unix.SOL_NETLINK, member, procIndex)
	}
	if err == nil {
		err = f.Send(&request)
	}
	if err != nil {
		f.Close()
		return f, fmt.Errorf("listen to the kernel's forks: %w", err)
	}
	return f, nil
}

// onlyForks has a socket receive nothing but forks whose child is the first thread of a process.
func onlyForks(fd int) error {
	const load, drop, take = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, 0, 0xffffffff
	fork := binary.BigEndian.Uint32(binary.NativeEndian.AppendUint32(nil, whatFork))
	program := []unix.SockFilter{
		{Code: load, K: whatAt},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: fork, Jf: 4},
		{Code: load, K: childPidAt},
		{Code: unix.BPF_MISC | unix.BPF_TAX},
		{Code: load, K: childTgidAt},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_X, Jt: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: drop},
		{Code: unix.BPF_RET | unix.BPF_K, K: take},
	}
	return unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
		&unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]})
}

// count adds to a family what its members start until a time. After a loss it looks for members
// that have been missed and still run.
func (f forks) count(family map[uint32]bool, until time.Time) (s Started, err error) {
	for {
		rest := time.Until(until)
		if rest <= 0 {
			return s, nil
		}
		timeout := unix.NsecToTimeval(max(rest, time.Microsecond).Nanoseconds())
		if err := f.SetReceiveTimeout(&timeout); err != nil {
			return s, err
		}
		messages, _, err := f.Receive()
		switch {
		case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ENOBUFS):
			s.Lost++
			missed, err := adopt(family)
			if err != nil {
				return s, err
			}
			s.Programs = append(s.Programs, missed...)
			continue
		case err != nil:
			return s, fmt.Errorf("listen to the kernel's forks: %w", err)
		}
		for _, m := range messages {
			if len(m.Data) < forkLength-unix.SizeofNlMsghdr {
				continue
			}
			at := func(offset int) uint32 {
				return binary.NativeEndian.Uint32(m.Data[offset-unix.SizeofNlMsghdr:])
			}
			parent, child := at(parentAt), at(childTgidAt)
			if family[parent] && !family[child] {
				family[child] = true
				s.Programs = append(s.Programs, program(parent))
			}
		}
	}
}

// adopt adds the descendants of a family's processes, and shows of each which program started it.
func adopt(family map[uint32]bool) (programs []string, err error) {
	for grown := true; grown; {
		grown = false
		stats, err := filepath.Glob("/proc/[0-9]*/stat")
		if err != nil {
			return programs, err
		}
		for _, path := range stats {
			text, err := os.ReadFile(path)
			if err != nil {
				continue // it has ended
			}
			fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
			parent, err := strconv.ParseUint(fields[1], 10, 32)
			if err != nil {
				return programs, err
			}
			pid, err := strconv.ParseUint(filepath.Base(filepath.Dir(path)), 10, 32)
			if err != nil {
				return programs, err
			}
			if family[uint32(parent)] && !family[uint32(pid)] {
				family[uint32(pid)], grown = true, true
				programs = append(programs, program(uint32(parent)))
			}
		}
	}
	return programs, nil
}

func program(pid uint32) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return fmt.Sprintf("process %d, which has ended", pid)
	}
	return strings.TrimSpace(strings.ReplaceAll(string(text), "\x00", " "))
}
