package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// Reaper starts processes and is the only one that reaps: its own children and, as the first
// process of a container inherits orphans, also those. Between a process's end and its reaping its
// number is not given away, and both reaping and signalling happen under one lock: no signal can
// reach another process.
type Reaper struct {
	mu     sync.Mutex
	own    map[int]*Child
	reaped chan struct{} // one slot: a process has been reaped
}

// Child is a process that a Reaper has started, the leader of a process group of its own.
type Child struct {
	PID    int
	Done   <-chan struct{} // closed once it is reaped
	done   chan struct{}
	status syscall.WaitStatus
	reaper *Reaper
}

// NewReaper makes this process inherit orphans. There is one Reaper in a process.
func NewReaper() (*Reaper, error) {
	// Without this only the first process of a container inherits orphans.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("become the subreaper: %w", err)
	}
	return &Reaper{own: map[int]*Child{}, reaped: loop.NewWake()}, nil
}

// Start runs a command with this process's environment and /dev/null as standard input.
func (r *Reaper) Start(argv []string, output *os.File) (*Child, error) {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	defer null.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	pid, err := syscall.ForkExec(path, argv, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{null.Fd(), output.Fd(), output.Fd()},
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	done := make(chan struct{})
	r.own[pid] = &Child{PID: pid, Done: done, done: done, reaper: r}
	return r.own[pid], nil
}

// Run reaps processes that have ended, until stop is closed.
func (r *Reaper) Run(stop <-chan struct{}) {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, unix.SIGCHLD)
	defer signal.Stop(ended)
	for {
		for r.reapOne() {
		}
		select {
		case <-stop:
			return
		case <-ended:
		}
	}
}

// Reaped has a value after one process or more have been reaped.
func (r *Reaper) Reaped() <-chan struct{} { return r.reaped }

func (r *Reaper) reapOne() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	var status syscall.WaitStatus
	pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
	if errors.Is(err, syscall.EINTR) {
		return true
	}
	if err != nil || pid <= 0 {
		return false
	}
	if c := r.own[pid]; c != nil {
		delete(r.own, pid)
		c.status = status
		close(c.done)
	}
	loop.Wake(r.reaped)
	return true
}

// Signal sends a signal to a child that has not been reaped, and does nothing otherwise.
func (c *Child) Signal(sig syscall.Signal) error {
	c.reaper.mu.Lock()
	defer c.reaper.mu.Unlock()
	if c.reaper.own[c.PID] != c {
		return nil
	}
	if err := syscall.Kill(c.PID, sig); err != nil {
		return fmt.Errorf("send %s to process %d: %w", unix.SignalName(sig), c.PID, err)
	}
	return nil
}

// SignalGroup sends a signal to a child and to every other process of its group.
func (c *Child) SignalGroup(sig syscall.Signal) error {
	c.reaper.mu.Lock()
	defer c.reaper.mu.Unlock()
	if !c.hasGroup() {
		return nil
	}
	if err := syscall.Kill(-c.PID, sig); err != nil {
		return fmt.Errorf("send %s to process group %d: %w", unix.SignalName(sig), c.PID, err)
	}
	return nil
}

// Kill ends a child and every process that it left behind.
func (c *Child) Kill() error { return c.SignalGroup(unix.SIGKILL) }

// GroupLives reports whether the child or a process that it left behind, which this process would
// reap, has not been reaped.
func (c *Child) GroupLives() bool {
	c.reaper.mu.Lock()
	defer c.reaper.mu.Unlock()
	return c.hasGroup()
}

// hasGroup is asked under the lock: the group's number cannot become another one's while a process
// of ours is in it.
func (c *Child) hasGroup() bool {
	err := unix.Waitid(unix.P_PGID, c.PID, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return !errors.Is(err, unix.ECHILD)
}

// Ended reports whether the child has been reaped.
func (c *Child) Ended() bool {
	select {
	case <-c.Done:
		return true
	default:
		return false
	}
}

// Succeeded reports whether a child that has been reaped ended with exit status 0.
func (c *Child) Succeeded() bool { return c.status.ExitStatus() == 0 }

// Outcome is how a child that has been reaped has ended.
func (c *Child) Outcome() string {
	if c.status.Signaled() {
		return fmt.Sprintf("killed by %s", unix.SignalName(c.status.Signal()))
	}
	return fmt.Sprintf("exit status %d", c.status.ExitStatus())
}
