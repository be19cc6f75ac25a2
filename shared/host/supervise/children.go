package supervise

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// children starts processes and is the only one that reaps: its own and, as the first process of a
// container is everybody's heir, those of others. Between a process's end and its reaping its
// number is not given away, and both reaping and signalling happen under one lock: no signal can
// reach a stranger.
type children struct {
	mu     sync.Mutex
	own    map[int]*child
	reaped chan struct{} // one slot: somebody ended
}

// child is a process of ours, the leader of a process group of its own.
type child struct {
	pid    int
	done   chan struct{} // closed once it is reaped
	status syscall.WaitStatus
}

func newChildren() (*children, error) {
	// Without this only the first process of a container inherits orphans.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("become the heir of orphans: %w", err)
	}
	return &children{own: map[int]*child{}, reaped: make(chan struct{}, 1)}, nil
}

// start runs a command with this process's environment, standard input from nowhere.
func (c *children) start(argv []string, output *os.File) (*child, error) {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	defer null.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	pid, err := syscall.ForkExec(path, argv, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{null.Fd(), output.Fd(), output.Fd()},
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	one := &child{pid: pid, done: make(chan struct{})}
	c.own[pid] = one
	return one, nil
}

// reap collects who has ended, until stop is closed.
func (c *children) reap(stop <-chan struct{}) {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, unix.SIGCHLD)
	defer signal.Stop(ended)
	for {
		for c.reapOne() {
		}
		select {
		case <-stop:
			return
		case <-ended:
		}
	}
}

func (c *children) reapOne() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	var status syscall.WaitStatus
	pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
	if errors.Is(err, syscall.EINTR) {
		return true
	}
	if err != nil || pid <= 0 {
		return false
	}
	if one := c.own[pid]; one != nil {
		delete(c.own, pid)
		one.status = status
		close(one.done)
	}
	wake(c.reaped)
	return true
}

// signal sends a signal to a child that has not been reaped, and to nobody otherwise.
func (c *children) signal(one *child, sig syscall.Signal) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.own[one.pid] != one {
		return nil
	}
	if err := syscall.Kill(one.pid, sig); err != nil {
		return fmt.Errorf("send %s to process %d: %w", unix.SignalName(sig), one.pid, err)
	}
	return nil
}

// lives says whether anybody is left of a child's process group whom this process would reap: the
// child, or those it left behind.
func (c *children) lives(one *child) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left(one)
}

// left holds the group's number: it cannot become a stranger's while one of ours is in it.
func (c *children) left(one *child) bool {
	err := unix.Waitid(unix.P_PGID, one.pid, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return !errors.Is(err, unix.ECHILD)
}

// kill ends a child and everybody it left behind, without asking them.
func (c *children) kill(one *child) error { return c.signalAll(one, unix.SIGKILL) }

// signalAll sends a signal to a child and to everybody in its group.
func (c *children) signalAll(one *child, sig syscall.Signal) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.left(one) {
		return nil
	}
	if err := syscall.Kill(-one.pid, sig); err != nil {
		return fmt.Errorf("send %s to process group %d: %w", unix.SignalName(sig), one.pid, err)
	}
	return nil
}

// wake fills a one-slot channel: a wake-up carries no data, so a second one adds nothing.
func wake(slot chan<- struct{}) {
	select {
	case slot <- struct{}{}:
	default:
	}
}
