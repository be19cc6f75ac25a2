// Package judge has FRR's own daemons test a configuration before the running ones get it: a set of
// scratch daemons, each in an empty network namespace, in which it reaches no router.
package judge

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	host "github.com/onprem-infra/onprem-infra/shared/host/frr"
	"github.com/onprem-infra/onprem-infra/shared/host/speak/launch"
)

// Judge tests configurations, one at a time.
type Judge struct{ launcher *launch.Launcher }

// New makes a judge that starts daemons as a launcher does.
func New(l *launch.Launcher) *Judge { return &Judge{launcher: l} }

const (
	// patience is how long all of a test may take; it takes a third of a second on a free machine.
	patience = 20 * time.Second
	// again is the time between two attempts to reach a daemon that starts.
	again = 5 * time.Millisecond
)

// Test gives a configuration to scratch daemons. Refused is what they refuse, or do not have
// although they took it, without secrets; nil if the configuration is good. The error is why
// nothing is known: namespaces are not permitted, a program is missing, or ctx has ended.
func (j *Judge) Test(ctx context.Context, c frr.Config) (refused, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var all []*scratch
	for _, name := range frr.Daemons() {
		if name == frr.BFD && c.Timing.BFD == (bgp.BFD{}) {
			continue
		}
		all = append(all, &scratch{name: name, dir: j.launcher.Scratch(),
			done: make(chan struct{})})
	}
	defer func() {
		for _, s := range all {
			s.end()
		}
	}()
	for _, s := range all {
		if err := j.start(s); err != nil {
			return nil, fmt.Errorf("start %s in a network of its own: %w", s.name, err)
		}
	}
	var wrong []error
	for _, s := range all {
		found, err := s.test(ctx, c)
		if err != nil {
			return nil, err
		}
		wrong = append(wrong, found)
	}
	return errors.Join(wrong...), nil
}

// scratch is a daemon that knows no network.
type scratch struct {
	name frr.Daemon
	dir  string
	log  tail
	cmd  *exec.Cmd     // nil before its start
	done chan struct{} // closed after its end
}

func (j *Judge) start(s *scratch) error {
	command := j.launcher.Command(s.name, s.dir)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = &s.log, &s.log
	cmd.SysProcAttr = j.launcher.As()
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWNET
	started := make(chan error)
	go func() {
		// The kernel kills the process when the thread ends that has started it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if started <- err; err == nil {
			_ = cmd.Wait() // it is killed; cmd has the state
			close(s.done)
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	s.cmd = cmd
	return nil
}

func (s *scratch) end() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill() // it may have ended
	<-s.done
}

// test gives the daemon its part, and reads back what it has. One that exits on it refuses it.
func (s *scratch) test(ctx context.Context, c frr.Config) (refused, err error) {
	conn, err := s.reach(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	refused = conn.Apply(ctx, frr.Configure(s.name, c))
	running, err := "", refused
	if !host.Unanswered(refused) { // else an answer that is late would be taken for the next one
		running, err = conn.Show(ctx, "show running-config")
	}
	switch {
	case err != nil && s.ended():
		crash := fmt.Errorf("%s ends by it: %s", s.name, s.cmd.ProcessState)
		return errors.Join(refused, crash), nil
	case err != nil:
		return nil, fmt.Errorf("test the configuration: %w", err)
	case refused != nil:
		return refused, nil
	}
	if missing, extra := frr.Compare(s.name, c, running); len(missing)+len(extra) > 0 {
		return fmt.Errorf("%s takes it, and then lacks %q, and has %q beyond it", s.name, missing,
			extra), nil
	}
	return nil, nil
}

// reach waits for the daemon to listen.
func (s *scratch) reach(ctx context.Context) (*host.Daemon, error) {
	for {
		conn, err := host.Dial(ctx, s.dir, s.name)
		if err == nil {
			return conn, nil
		}
		select {
		case <-s.done:
			return nil, fmt.Errorf("%s ended at its start: %s", s.name, s.log.last())
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-time.After(again):
		}
	}
}

func (s *scratch) ended() bool {
	select {
	case <-s.done:
		return true
	case <-time.After(100 * time.Millisecond): // its socket closes before the kernel has ended it
		return false
	}
}

// tail keeps the end of what a daemon logs.
type tail struct {
	mu   sync.Mutex
	text string
}

// kept is enough for some lines.
const kept = 2000

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text += string(p)
	t.text = t.text[max(len(t.text)-kept, 0):]
	return len(p), nil
}

// last is the last line.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(t.text), "\n")
	return lines[len(lines)-1]
}
