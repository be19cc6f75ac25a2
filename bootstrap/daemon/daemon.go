// Package daemon keeps one container of ours running: it adopts the one that is there, replaces one that was made from another
// specification, pulls the image only when it is absent, and signals its first process.
package daemon

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// Engine is what a container engine must do for us.
type Engine interface {
	// EnsureImage pulls ref unless it is present, in one attempt.
	EnsureImage(ctx context.Context, ref, authFile string) (pulled bool, err error)
	Inspect(ctx context.Context, name string) (state container.State, found bool, err error)
	Start(ctx context.Context, spec container.Spec) error
	Stop(ctx context.Context, name string, grace time.Duration) error
	// Remove refuses a container that is not ours.
	Remove(ctx context.Context, name string) error
}

const (
	firstDelay = time.Second
	maxDelay   = 30 * time.Second
	stopGrace  = 10 * time.Second
)

// Keeper keeps one container. Its methods are for one goroutine.
type Keeper struct {
	Engine   Engine
	Open     func(pid int) (Process, error)
	Wake     chan<- struct{} // asks for a round when the container ends
	AuthFile string          // registry credentials, may be absent
	// Prepare clears away what a former container left that would be taken for the new one's word. It is called before a start, never
	// before an adoption; nil for nothing.
	Prepare func() error

	running *watched
	digest  string // of the specification that runs
	stopped bool   // by Stop, and not started since

	failure error
	delay   time.Duration
	retryAt time.Time
}

// Running says whether the container runs. It asks nobody.
func (k *Keeper) Running() bool { return k.running.alive() }

// Ensure makes the container run. It costs nothing while it does. After a failure it repeats that failure without trying again until
// a delay has passed that doubles up to a cap: a registry that is away for hours is asked twice a minute.
func (k *Keeper) Ensure(ctx context.Context, spec container.Spec) error {
	if k.Running() && k.digest == spec.Digest() {
		return nil
	}
	if k.failure != nil && time.Now().Before(k.retryAt) {
		return k.failure
	}
	if err := k.start(ctx, spec); err != nil {
		k.delay = min(max(2*k.delay, firstDelay), maxDelay)
		k.failure, k.retryAt = err, time.Now().Add(k.delay)
		return err
	}
	k.failure, k.delay, k.digest, k.stopped = nil, 0, spec.Digest(), false
	return nil
}

func (k *Keeper) start(ctx context.Context, spec container.Spec) error {
	state, found, err := k.Engine.Inspect(ctx, spec.Name)
	switch {
	case err != nil:
		return fmt.Errorf("look at container %s: %w", spec.Name, err)
	case found && !ours(state):
		return fmt.Errorf("the name %s is taken by a container that is not ours: remove it or rename it", spec.Name)
	case found && state.Running && state.Digest == spec.Digest():
		return k.adopt(spec.Name, state.PID)
	}
	// The image comes first, so that a container that still serves is not taken away before its successor can start.
	if _, err := k.Engine.EnsureImage(ctx, spec.Image, k.AuthFile); err != nil {
		return err
	}
	if found {
		if err := k.replace(ctx, spec.Name); err != nil {
			return err
		}
	}
	if k.Prepare != nil {
		if err := k.Prepare(); err != nil {
			return fmt.Errorf("prepare container %s: %w", spec.Name, err)
		}
	}
	if err := k.Engine.Start(ctx, spec); err != nil {
		return fmt.Errorf("start container %s: %w", spec.Name, err)
	}
	state, found, err = k.Engine.Inspect(ctx, spec.Name)
	if err != nil {
		return fmt.Errorf("look at container %s: %w", spec.Name, err)
	}
	if !found || !state.Running {
		return fmt.Errorf("container %s ended right after its start, with exit code %d: podman logs %s says why", spec.Name, state.ExitCode, spec.Name)
	}
	return k.adopt(spec.Name, state.PID)
}

// replace takes the former container away.
func (k *Keeper) replace(ctx context.Context, name string) error {
	if err := k.Engine.Stop(ctx, name, stopGrace); err != nil {
		return fmt.Errorf("stop the former container %s: %w", name, err)
	}
	if err := k.Engine.Remove(ctx, name); err != nil {
		return fmt.Errorf("remove the former container %s: %w", name, err)
	}
	return nil
}

func (k *Keeper) adopt(name string, pid int) error {
	process, err := k.Open(pid)
	if err != nil {
		return fmt.Errorf("watch container %s: %w", name, err)
	}
	k.running.close()
	k.running = watch(process, func() { loop.Wake(k.Wake) })
	return nil
}

// Signal sends sig to the container's first process, and os.ErrProcessDone when there is none.
func (k *Keeper) Signal(sig syscall.Signal) error {
	if !k.Running() {
		return os.ErrProcessDone
	}
	return k.running.process.Signal(sig)
}

// ours is false for a container that somebody else gave our name: it is not ours to stop.
func ours(s container.State) bool { return s.Digest != "" }
