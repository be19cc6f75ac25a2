package pods

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// restartPause is how long an ended container stays down. Kubelet begins with ten seconds; tests
// wait less.
const restartPause = time.Second

// container is one container of runc's.
type container struct {
	id, bundle, state, log string

	once     sync.Once
	stopping chan struct{} // closed when it must not be started again
	ended    chan struct{} // closed when it will not be started again
}

// keep starts the container, again whenever it has ended, until it is abandoned.
func (c *container) keep() {
	go func() {
		defer close(c.ended)
		for {
			err := c.run()
			select {
			case <-c.stopping:
				return
			default:
			}
			c.note(fmt.Sprintf("-- ended: %v\n", err))
			select {
			case <-c.stopping:
				return
			case <-time.After(restartPause):
			}
		}
	}()
}

// run runs the container once, to its end.
func (c *container) run() error {
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	if err := os.Remove(c.pidFile()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	cmd := exec.Command("runc", "--root", c.state, "run", "--bundle", c.bundle, "--pid-file", c.pidFile(), c.id)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd.Run()
}

func (c *container) pidFile() string { return c.bundle + "/pid" }

func (c *container) pid() (int, error) {
	text, err := os.ReadFile(c.pidFile())
	if err != nil {
		return 0, fmt.Errorf("%s does not run: %w", c.id, err)
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

// started waits until the first process runs.
func (c *container) started() error {
	var err error
	for range 500 {
		if _, err = c.pid(); err == nil {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return errors.Join(err, errors.New(c.tail()))
}

func (c *container) note(text string) {
	if log, err := os.OpenFile(c.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644); err == nil {
		_, _ = log.WriteString(text) // a line for the reader of a failed test's log
		log.Close()
	}
}

func (c *container) tail() string {
	text, _ := os.ReadFile(c.log)
	return string(text[max(0, len(text)-2000):])
}

// abandon keeps the container from being started again.
func (c *container) abandon() { c.once.Do(func() { close(c.stopping) }) }

func (c *container) terminate() error { return c.signal("TERM") }

func (c *container) signal(sig string) error {
	out, err := exec.Command("runc", "--root", c.state, "kill", c.id, sig).CombinedOutput()
	if err != nil && !gone(out) {
		return fmt.Errorf("send SIG%s to %s: %w: %s", sig, c.id, err, bytes.TrimSpace(out))
	}
	return nil
}

// gone reports whether the error of runc is only that there is nothing to do.
func gone(out []byte) bool {
	return bytes.Contains(out, []byte("does not exist")) || bytes.Contains(out, []byte("not running")) || bytes.Contains(out, []byte("already finished"))
}

// wait waits for the end of an abandoned container, and kills it at the deadline.
func (c *container) wait(deadline <-chan time.Time) error {
	select {
	case <-c.ended:
		return nil
	case <-deadline:
	}
	for {
		if err := c.signal("KILL"); err != nil {
			return err
		}
		select {
		case <-c.ended:
			return nil
		case <-time.After(100 * time.Millisecond): // it was between two runs, or is being made
		}
	}
}
