// Package daemon keeps one container of ours running: it adopts the one that is there, replaces one that was made from another
// specification, wakes or replaces one that shows no sign of life, pulls the image only when it is absent, and signals its first process.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	// Stop ends a paused container too. It refuses one that is not ours.
	Stop(ctx context.Context, name string, grace time.Duration) error
	// Unpause leaves one that is not paused as it is. It refuses one that is not ours.
	Unpause(ctx context.Context, name string) error
	// Remove refuses a container that is not ours.
	Remove(ctx context.Context, name string) error
}

// Keeper keeps one container. Its methods are for one goroutine.
type Keeper struct {
	Engine   Engine
	Open     func(pid int) (Process, error)
	Wake     chan<- struct{} // asks for a round when the container ends
	Log      *slog.Logger
	AuthFile string // registry credentials, may be absent
	// Sign is what the container is judged by while it runs; nil for its process alone.
	Sign Sign
	// Prepare clears away what a former container left that would be taken for the new one's word. It is called before a start, never
	// before an adoption; nil for nothing.
	Prepare func() error

	running *watched
	digest  string    // of the specification that runs
	stopped bool      // by Stop, and not started since
	begun   time.Time // when what runs was started; zero when it was not started here
	pulse   pulse     // of what runs

	failure error   // why there is none
	tries   backoff // of starts that fail
	lives   backoff // of starts that are followed by an early end
}

// Running says whether the container runs. It asks nobody.
func (k *Keeper) Running() bool { return k.running.alive() }

// Ensure makes the container run, and its error says what is wrong with it. While it runs and lives the engine is not asked. After a
// failure Ensure repeats that failure without trying again until a delay has passed that doubles up to a cap: a registry that is away for
// hours is asked twice a minute.
func (k *Keeper) Ensure(ctx context.Context, spec container.Spec) error {
	if k.Running() && k.digest == spec.Digest() {
		return k.feel(ctx, spec.Name)
	}
	k.bury(spec.Name)
	if k.failure != nil && (k.tries.wait() || k.lives.wait()) {
		return k.failure
	}
	if err := k.start(ctx, spec); err != nil {
		k.failure = err
		k.tries.longer(time.Now(), limit(err))
		return err
	}
	k.failure, k.tries, k.digest, k.stopped = nil, backoff{}, spec.Digest(), false
	return nil
}

// bury takes note of a container that has ended by itself. One that did so soon after its start is not started again at once.
func (k *Keeper) bury(name string) {
	if k.Running() || k.begun.IsZero() {
		return
	}
	if time.Since(k.begun) >= settled {
		k.lives = backoff{}
	} else {
		k.lives.longer(k.begun, maxDelay)
		k.failure = fmt.Errorf("container %s ended soon after its start: podman logs %s says why", name, name)
	}
	k.begun = time.Time{}
}

func (k *Keeper) start(ctx context.Context, spec container.Spec) error {
	state, found, err := k.Engine.Inspect(ctx, spec.Name)
	switch {
	case err != nil:
		return fmt.Errorf("look at container %s: %w", spec.Name, err)
	case found && !ours(state):
		return fmt.Errorf("the name %s is taken by a container that is not ours: remove it or rename it", spec.Name)
	case found && state.Running && state.Digest == spec.Digest():
		if err := k.adopt(ctx, spec.Name, state); !errors.Is(err, os.ErrProcessDone) {
			return err
		}
		state.Running = false // the engine has not heard of its end: what should have told it was killed too
	}
	// The image comes first, so that a container that still serves is not taken away before its successor can start.
	if _, err := k.Engine.EnsureImage(ctx, spec.Image, k.AuthFile); err != nil {
		return costly{err}
	}
	why := reason(state, found)
	if found {
		if err := k.replace(ctx, spec.Name, state.Running); err != nil {
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
		return costly{fmt.Errorf("container %s ended right after its start, with exit code %d: podman logs %s says why", spec.Name, state.ExitCode, spec.Name)}
	}
	if err := k.watch(spec.Name, state.PID); err != nil {
		return err
	}
	k.begun, k.pulse = time.Now(), newborn()
	k.Log.Info("start container", "container", spec.Name, "why", why)
	return nil
}

// reason says why a container is started where the engine found this state.
func reason(s container.State, found bool) string {
	switch {
	case !found:
		return "there was none"
	case s.Running:
		return "the former one was made from another specification"
	default:
		return fmt.Sprintf("the former one ended with exit code %d", s.ExitCode)
	}
}

// replace takes the former container away.
func (k *Keeper) replace(ctx context.Context, name string, running bool) error {
	if running {
		if err := k.Engine.Stop(ctx, name, stopGrace); err != nil {
			return fmt.Errorf("stop the former container %s: %w", name, err)
		}
	}
	if err := k.Engine.Remove(ctx, name); err != nil {
		return fmt.Errorf("remove the former container %s: %w", name, err)
	}
	return nil
}

// adopt takes on a container that another run of this program left.
func (k *Keeper) adopt(ctx context.Context, name string, state container.State) error {
	if state.Paused {
		if err := k.Engine.Unpause(ctx, name); err != nil {
			return err
		}
	}
	if err := k.watch(name, state.PID); err != nil {
		return err
	}
	k.begun, k.pulse = time.Time{}, pulse{}
	k.Log.Info("adopt container", "container", name, "was_paused", state.Paused)
	return nil
}

func (k *Keeper) watch(name string, pid int) error {
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
