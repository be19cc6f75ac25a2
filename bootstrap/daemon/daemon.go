// Package daemon keeps one container running: it adopts, starts, replaces, signals and stops the
// container, pulls its image, and probes its liveness.
package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/container"
)

// Engine is the part of a container engine that a Keeper needs.
type Engine interface {
	HasImage(ctx context.Context, ref string) (bool, error)
	// Pull fetches an image in one attempt, which may take hours. It runs concurrently with the
	// other methods.
	Pull(ctx context.Context, ref, authFile string) error
	Inspect(ctx context.Context, name string) (state container.State, found bool, err error)
	// Start creates a container and starts it; its name must be free.
	Start(ctx context.Context, spec container.Spec) error
	// StartAgain starts an existing container that does not run. It refuses foreign containers.
	StartAgain(ctx context.Context, name string) error
	// Stop also ends a paused container. It refuses foreign containers.
	Stop(ctx context.Context, name string, grace time.Duration) error
	// Unpause does nothing if the container is not paused. It refuses foreign containers.
	Unpause(ctx context.Context, name string) error
	// Remove refuses foreign containers.
	Remove(ctx context.Context, name string) error
}

// Options are what a Keeper needs.
type Options struct {
	Engine Engine
	Open   func(pid int) (Process, error)
	// Find finds a container's first process by its command while the engine does not answer. It
	// may be nil.
	Find     func(command []string) (Process, error)
	Wake     chan<- struct{} // requests a round when the container exits
	Log      *slog.Logger
	AuthFile string // registry credentials, may be absent
	Probe    Probe  // of the running container's liveness; nil: the process alone counts
	// Prepare removes files of a former container that would be taken for the new one's. It is
	// called before a start, never before an adoption. It may be nil.
	Prepare func() error
}

// Keeper keeps one container running. Its methods are for one goroutine.
type Keeper struct {
	Options

	running  *watched
	digest   string    // of the running container's specification
	command  []string  // of the wanted specification
	stopped  bool      // Stop succeeded, and nothing has been started since
	pull     *pull     // in progress, or ended and not yet handled; nil for none
	started  time.Time // of the running container; zero if it was adopted
	liveness liveness  // of the running container

	failure  error   // why no container runs
	attempts backoff // of starts and pulls that fail
	exits    backoff // of starts that are followed by an early exit
}

// New makes a Keeper. Nothing happens before the first Ensure.
func New(o Options) *Keeper { return &Keeper{Options: o} }

// Running reports whether the container runs. It does not call the engine.
func (k *Keeper) Running() bool { return k.running.running() }

// Ensure makes the container run; its error describes a failure, or a pull that is in progress. It
// does not call the engine while the container runs and its probe passes. After a failure it
// returns the same error without another attempt until the backoff has passed. A container of
// another specification keeps running until its replacement can start.
func (k *Keeper) Ensure(ctx context.Context, spec container.Spec) error {
	var unhealthy error
	if k.Running() {
		if unhealthy = k.checkLiveness(ctx, spec.Name); k.digest == spec.Digest() {
			return unhealthy
		}
	}
	if err := k.ensureStarted(ctx, spec); err != nil {
		return cmp.Or(unhealthy, err)
	}
	return nil
}

// ensureStarted starts the container, or replaces one of another specification.
func (k *Keeper) ensureStarted(ctx context.Context, spec container.Spec) error {
	k.recordExit(spec.Name)
	k.command = spec.Command
	if k.pull == nil && k.failure != nil && (k.attempts.wait() || k.exits.wait()) {
		return k.failure
	}
	k.stopped = false
	err := k.finishPull(spec.Image)
	if err == nil {
		err = k.start(ctx, spec)
	}
	switch {
	case errors.As(err, new(UnderWay)):
		return cmp.Or(k.failure, err) // during a repeated pull report the last failure
	case err != nil:
		k.failure = err
		k.attempts.extend(time.Now(), limit(err))
		return err
	}
	k.failure, k.attempts = nil, backoff{}
	return nil
}

// recordExit notes the exit of the container. An exit soon after the start delays the next start.
func (k *Keeper) recordExit(name string) {
	if k.Running() || k.started.IsZero() {
		return
	}
	if time.Since(k.started) >= stableAfter {
		k.exits = backoff{}
	} else {
		k.exits.extend(k.started, maxDelay)
		k.failure = fmt.Errorf("container %[1]s exited soon after its start: "+
			"run podman logs %[1]s for the reason", name)
	}
	k.started = time.Time{}
}

// Signal sends sig to the container's first process. It returns os.ErrProcessDone if none runs.
func (k *Keeper) Signal(sig syscall.Signal) error {
	if !k.Running() {
		return os.ErrProcessDone
	}
	return k.running.process.Signal(sig)
}

// ours is false for a foreign container of the same name, which must not be stopped.
func ours(s container.State) bool { return s.Digest != "" }
