package daemon

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/container"
)

// fakeEngine is a fake: it holds one container and fails where it is told to, in ways that a real engine does only by chance.
type fakeEngine struct {
	calls   []string
	fail    map[string]error // by call
	present bool             // the image is there
	state   container.State
	found   bool
	process *fakeProcess
	nextPID int
}

func (e *fakeEngine) call(name string) error {
	e.calls = append(e.calls, name)
	return e.fail[name]
}

func (e *fakeEngine) EnsureImage(_ context.Context, ref, _ string) (bool, error) {
	if err := e.call("image"); err != nil {
		return false, fmt.Errorf("pull %s: %w", ref, err)
	}
	pulled := !e.present
	e.present = true
	return pulled, nil
}

func (e *fakeEngine) Inspect(context.Context, string) (container.State, bool, error) {
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
	if err := e.call("start"); err != nil {
		return err
	}
	e.nextPID++
	e.found, e.state = true, container.State{Running: true, PID: e.nextPID, Digest: spec.Digest()}
	e.process = &fakeProcess{end: make(chan struct{})}
	return nil
}

func (e *fakeEngine) Stop(context.Context, string, time.Duration) error {
	if err := e.call("stop"); err != nil {
		return err
	}
	if e.process != nil && e.state.Running {
		close(e.process.end)
	}
	return nil
}

func (e *fakeEngine) Remove(context.Context, string) error {
	e.found = false
	return e.call("remove")
}

func (e *fakeEngine) open(pid int) (Process, error) {
	if e.process == nil || pid != e.state.PID {
		return nil, errors.New("no such process")
	}
	return e.process, nil
}

// fakeProcess is a fake: it ends on SIGTERM unless it is deaf.
type fakeProcess struct {
	end     chan struct{}
	deaf    bool
	signals []syscall.Signal
}

func (p *fakeProcess) Signal(sig syscall.Signal) error {
	p.signals = append(p.signals, sig)
	if sig == syscall.SIGTERM && !p.deaf {
		close(p.end)
	}
	return nil
}

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

// keeper makes a Keeper over e whose processes are let go when the test ends.
func keeper(t *testing.T, e *fakeEngine) (*Keeper, chan struct{}) {
	t.Helper()
	wake := make(chan struct{}, 1)
	k := &Keeper{Engine: e, Open: e.open, Wake: wake}
	t.Cleanup(func() { k.running.close() })
	return k, wake
}
