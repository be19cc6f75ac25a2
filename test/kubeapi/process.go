package kubeapi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Place is where a program runs: a host of the lab, or Here.
type Place interface {
	Command(ctx context.Context, name string, args ...string) *exec.Cmd
	Dial(ctx context.Context, network, address string) (net.Conn, error)
}

// Here is this machine.
type Here struct{}

// Command prepares a command that ends with this process, in a group of its own.
func (Here) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	return cmd
}

// Dial connects from this machine.
func (Here) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, network, address)
}

// process is a running program.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	log  string        // its output, a file
}

func start(place Place, log string, name string, args ...string) (*process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p := &process{cmd: place.Command(context.Background(), name, args...), done: make(chan struct{}), log: log}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	started := make(chan error)
	go func() {
		defer close(p.done)
		runtime.LockOSThread() // the kernel ends a child of Here with the thread that made it
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // its log has the reason
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return p, nil
}

// await retries until the program answers or exits, or ctx ends.
func (p *process) await(ctx context.Context, answers func(context.Context) error) error {
	for {
		err := answers(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("%s has ended: %w\n%s", p.cmd.Path, err, p.tail())
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer: %w\n%s", p.cmd.Path, err, p.tail())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// tail is the end of what it wrote.
func (p *process) tail() string {
	text, _ := os.ReadFile(p.log)
	return string(text[max(0, len(text)-4000):])
}

// end sends SIGTERM, and SIGKILL if it still runs after a while. It is an error if it had to
// be killed.
func (p *process) end(within time.Duration) error {
	_ = p.cmd.Process.Signal(syscall.SIGCONT) // a stopped one would not handle the next
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
		return nil
	case <-time.After(within):
	}
	err := p.kill()
	return errors.Join(fmt.Errorf("%s did not end within %v of SIGTERM", p.cmd.Path, within), err)
}

func (p *process) kill() error {
	err := p.cmd.Process.Kill()
	<-p.done
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}
