package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Held reports whether a signal has stopped a process, as SIGSTOP does. One that a tracer has
// stopped is not held: a debugger continues it. A process that does not exist is not held either.
// Held reads /proc, which must be of this process namespace.
func Held(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && stopped(text)
}

// stopped reads the kernel's line. The state stands after the name, which is in parentheses and may
// hold some itself.
func stopped(text []byte) bool {
	after := text[bytes.LastIndexByte(text, ')')+1:]
	return bytes.HasPrefix(after, []byte(" T "))
}

// Stat is the open /proc file of one process, for callers that read it ten times a second: a read
// is one system call. It stays this process's, also when another one has been given its number.
type Stat struct {
	fd   int
	text []byte
}

// OpenStat finds the process with a PID of this process namespace. Close it after use.
func OpenStat(pid int) (*Stat, error) {
	fd, err := unix.Open(fmt.Sprintf("/proc/%d/stat", pid), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		err = os.ErrProcessDone
	}
	if err != nil {
		return nil, fmt.Errorf("open the state of process %d: %w", pid, err)
	}
	return &Stat{fd: fd, text: make([]byte, 4096)}, nil
}

// Held is the function of that name. It is for one goroutine.
func (s *Stat) Held() bool {
	n, err := unix.Pread(s.fd, s.text, 0) // the library's file would read again, to see the end
	return err == nil && stopped(s.text[:n])
}

// Close closes the file.
func (s *Stat) Close() error { return unix.Close(s.fd) }
