// Package child keeps one process running whose parent is this program, as the first process of a
// container: it starts, replaces, signals and stops it. The process cannot outlive the program: the
// kernel kills it when the program ends, however that happens, unless it changes its user.
package child

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/loop"
)

const (
	// grace is how long the process may take to end after SIGTERM.
	grace = 5 * time.Second
	// stable is how long it must run for its next start to come at once.
	stable = 10 * time.Second
	// soonest and latest are the time between the starts of one that ends early.
	soonest, latest = time.Second, 30 * time.Second
)

// Options are what a Keeper needs.
type Options struct {
	Wake chan<- struct{} // asks for a round when the process ends
	Log  *slog.Logger
	// As is the user as which the process runs, with its capabilities; nil for the program's own.
	As *syscall.SysProcAttr
}

// Keeper keeps a process running. Its methods are for one goroutine.
type Keeper struct {
	options Options

	process *process // nil before the first start
	digest  string   // of its specification
	pause   time.Duration
	next    time.Time // before which nothing is started
}

// process is a started process.
type process struct {
	*os.Process
	started time.Time
	done    chan struct{} // closed after its end
	ended   error         // how
}

// New makes a Keeper that has started nothing.
func New(o Options) *Keeper { return &Keeper{options: o} }

// Running reports whether the process runs.
func (k *Keeper) Running() bool {
	if k.process == nil {
		return false
	}
	select {
	case <-k.process.done:
		return false
	default:
		return true
	}
}

// Ensure makes the command of a specification run, with its environment beside this program's. The
// rest of the specification is for engines of containers. A process of another specification is
// replaced. The error is why it does not run.
func (k *Keeper) Ensure(ctx context.Context, spec container.Spec) error {
	if k.Running() && k.digest == spec.Digest() {
		return nil
	}
	if k.Running() {
		k.options.Log.Info("replace", "process", spec.Name, "why", "its configuration changed")
		if err := k.Stop(ctx, spec.Name); err != nil {
			return err
		}
	}
	if err := k.recordEnd(spec.Name); err != nil {
		return err
	}
	return k.start(spec)
}

// recordEnd is an error while a process that ended early is not to be started again yet. It is the
// same one for all of that time, so that callers report it once.
func (k *Keeper) recordEnd(name string) error {
	if p := k.process; p != nil {
		k.process = nil
		if time.Since(p.started) >= stable {
			k.pause = 0
		} else {
			k.pause = min(max(2*k.pause, soonest), latest)
			k.next = time.Now().Add(k.pause)
		}
		k.options.Log.Warn("ended", "process", name, "how", p.ended, "started_again_in", k.pause)
	}
	if time.Now().Before(k.next) {
		return fmt.Errorf("%s ended soon after its start, and is started again %v after its end: "+
			"its log, above, has the reason", name, k.pause)
	}
	return nil
}

func (k *Keeper) start(spec container.Spec) error {
	cmd := exec.Command(spec.Command[0], spec.Command[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	cmd.Env = os.Environ()
	for name, value := range spec.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if k.options.As != nil {
		*cmd.SysProcAttr = *k.options.As
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	p := &process{done: make(chan struct{})}
	if err := p.run(cmd, k.options.Wake); err != nil {
		return fmt.Errorf("start %s: %w", spec.Name, err)
	}
	k.process, k.digest = p, spec.Digest()
	k.options.Log.Info("started", "process", spec.Name, "pid", p.Pid)
	return nil
}

// run starts a command, and waits for its end beside the caller.
func (p *process) run(cmd *exec.Cmd, wake chan<- struct{}) error {
	started := make(chan error)
	go func() {
		// The kernel kills the process when the thread ends that has started it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		p.Process, p.started = cmd.Process, time.Now()
		if started <- err; err != nil {
			return
		}
		p.ended = cmd.Wait()
		close(p.done)
		loop.Wake(wake)
	}()
	return <-started
}

// PID is the process, 0 if none runs.
func (k *Keeper) PID() int {
	if !k.Running() {
		return 0
	}
	return k.process.Pid
}

// Signal sends a signal to the process. It is os.ErrProcessDone if none runs.
func (k *Keeper) Signal(sig syscall.Signal) error {
	if !k.Running() {
		return os.ErrProcessDone
	}
	return k.process.Signal(sig)
}

// Stop ends the process and waits for its end: by SIGTERM, and by SIGKILL after the grace time or
// when ctx ends. That none runs is no error.
func (k *Keeper) Stop(ctx context.Context, _ string) error {
	if !k.Running() {
		return nil
	}
	p := k.process
	k.process, k.pause, k.next = nil, 0, time.Time{} // its end is no failure
	if err := p.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("end process %d: %w", p.Pid, err)
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
	case <-time.After(grace):
	}
	if err := p.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill process %d: %w", p.Pid, err)
	}
	<-p.done
	return nil
}
