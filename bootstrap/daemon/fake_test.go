package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/container"
)

// fakeEngine is a FAKE: it holds one container and fails on request, in ways that a real engine
// does only at random.
type fakeEngine struct {
	calls    []string
	fail     map[string]error // by call
	absent   bool             // the image has not been pulled yet
	frail    bool             // what it starts exits before it can be inspected
	state    container.State
	found    bool
	process  *fakeProcess
	nextPID  int
	unpaused func()     // called by Unpause; may be nil
	lock     sync.Mutex // of all fields: a pull runs beside the rounds
}

// set changes the engine while a Keeper runs its rounds.
func (e *fakeEngine) set(change func()) {
	e.lock.Lock()
	defer e.lock.Unlock()
	change()
}

func (e *fakeEngine) call(name string) error {
	e.calls = append(e.calls, name)
	return e.fail[name]
}

func (e *fakeEngine) HasImage(context.Context, string) (bool, error) {
	e.lock.Lock()
	defer e.lock.Unlock()
	return !e.absent, e.call("image")
}

func (e *fakeEngine) Pull(_ context.Context, ref, _ string) error {
	e.lock.Lock()
	defer e.lock.Unlock()
	if err := e.call("pull"); err != nil {
		return fmt.Errorf("pull %s: %w", ref, err)
	}
	e.absent = false
	return nil
}

func (e *fakeEngine) Inspect(context.Context, string) (container.State, bool, error) {
	e.lock.Lock()
	defer e.lock.Unlock()
	if e.process != nil {
		select {
		case <-e.process.end:
			e.state.Running, e.state.PID = false, 0
		default:
		}
	}
	return e.state, e.found, e.call("inspect")
}

func (e *fakeEngine) Start(_ context.Context, spec container.Spec) error {
	e.lock.Lock()
	defer e.lock.Unlock()
	if err := e.call("start"); err != nil {
		return err
	}
	e.run(spec.Digest())
	return nil
}

func (e *fakeEngine) StartAgain(context.Context, string) error {
	e.lock.Lock()
	defer e.lock.Unlock()
	if err := e.call("again"); err != nil {
		return err
	}
	e.run(e.state.Digest)
	return nil
}

// run starts the container in another process.
func (e *fakeEngine) run(digest string) {
	e.nextPID++
	e.found, e.state = true, container.State{Running: true, PID: e.nextPID, Digest: digest}
	e.process = &fakeProcess{end: make(chan struct{})}
	if e.frail {
		e.process.exit()
	}
}

func (e *fakeEngine) Stop(context.Context, string, time.Duration) error {
	e.lock.Lock()
	defer e.lock.Unlock()
	if err := e.call("stop"); err != nil {
		return err
	}
	if e.process != nil && e.state.Running {
		e.process.exit()
	}
	return nil
}

func (e *fakeEngine) Unpause(context.Context, string) error {
	e.lock.Lock()
	defer e.lock.Unlock()
	if err := e.call("unpause"); err != nil {
		return err
	}
	e.state.Paused = false
	if e.unpaused != nil {
		e.unpaused()
	}
	if e.process != nil {
		e.process.goOn()
	}
	return nil
}

func (e *fakeEngine) Remove(context.Context, string) error {
	e.lock.Lock()
	defer e.lock.Unlock()
	e.found = false
	return e.call("remove")
}

func (e *fakeEngine) open(pid int) (Process, error) {
	e.lock.Lock()
	defer e.lock.Unlock()
	if e.process == nil || pid != e.state.PID {
		return nil, fmt.Errorf("open process %d: %w", pid, os.ErrProcessDone)
	}
	return e.process, nil
}

// fakeProcess is a FAKE: it uses processor time between any two probes and exits on SIGTERM, unless
// a field says otherwise.
type fakeProcess struct {
	end         chan struct{}
	ignoresTERM bool
	dropsTERM   int  // so many SIGTERMs come before it has a handler
	hung        bool // only SIGKILL ends it
	stopped     bool // until SIGCONT
	paused      bool // until the engine unpauses it
	asked       bool // to exit: SIGTERM is pending
	tracer      int
	foreign     bool // it has only the PID of the container's first process
	cpu         time.Duration
	signals     []syscall.Signal
}

func (p *fakeProcess) still() bool { return p.hung || p.stopped || p.paused }

func (p *fakeProcess) exit() {
	select {
	case <-p.end:
	default:
		close(p.end)
	}
}

func (p *fakeProcess) goOn() {
	if p.paused = false; p.asked && !p.still() {
		p.exit()
	}
}

func (p *fakeProcess) Signal(sig syscall.Signal) error {
	p.signals = append(p.signals, sig)
	switch {
	case sig == syscall.SIGKILL:
		p.exit()
	case sig == syscall.SIGCONT && p.stopped:
		p.stopped = false
		if p.asked && !p.still() {
			p.exit()
		}
	case sig == syscall.SIGTERM && p.dropsTERM > 0:
		p.dropsTERM--
	case sig == syscall.SIGTERM && p.still():
		p.asked = true
	case sig == syscall.SIGTERM && !p.ignoresTERM:
		p.exit()
	}
	return nil
}

func (p *fakeProcess) CPU() (time.Duration, error) {
	if !p.still() {
		p.cpu++
	}
	return p.cpu, nil
}

func (p *fakeProcess) Of(string) (bool, error) { return !p.foreign, nil }

func (p *fakeProcess) Tracer() (int, error) { return p.tracer, nil }

func (p *fakeProcess) Wait(ctx context.Context) error {
	select {
	case <-p.end:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *fakeProcess) Close() error { return nil }

var keepalived = container.Spec{Name: "onprem-keepalived", Image: "example.com/keepalived:1", Command: []string{"keepalived"}}

// keeper makes a Keeper over e, whose watches end with the test.
func keeper(t *testing.T, e *fakeEngine) (*Keeper, chan struct{}) {
	t.Helper()
	wake := make(chan struct{}, 1)
	k := New(Options{Engine: e, Open: e.open, Wake: wake, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() { k.running.close() })
	return k, wake
}
