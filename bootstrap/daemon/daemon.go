// Package daemon keeps one container of ours running: it adopts the one that is there, replaces one
// that was made from another specification, wakes or replaces one that shows no sign of life, pulls
// the image only when it is absent, and signals its first process.
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
	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// Engine is what a container engine must do for us.
type Engine interface {
	HasImage(ctx context.Context, ref string) (bool, error)
	// Pull fetches an image in one attempt, which may take hours. It is called beside the other
	// methods.
	Pull(ctx context.Context, ref, authFile string) error
	Inspect(ctx context.Context, name string) (state container.State, found bool, err error)
	// Start makes a container and starts it; its name must be free.
	Start(ctx context.Context, spec container.Spec) error
	// StartAgain starts a container that is there and does not run. It refuses one that is not
	// ours.
	StartAgain(ctx context.Context, name string) error
	// Stop ends a paused container too. It refuses one that is not ours.
	Stop(ctx context.Context, name string, grace time.Duration) error
	// Unpause leaves one that is not paused as it is. It refuses one that is not ours.
	Unpause(ctx context.Context, name string) error
	// Remove refuses a container that is not ours.
	Remove(ctx context.Context, name string) error
}

// Keeper keeps one container. Its methods are for one goroutine.
type Keeper struct {
	Engine Engine
	Open   func(pid int) (Process, error)
	// Find finds the first process of a container by its command while the engine cannot be asked;
	// nil for nobody who can.
	Find     func(command []string) (Process, error)
	Wake     chan<- struct{} // asks for a round when the container ends
	Log      *slog.Logger
	AuthFile string // registry credentials, may be absent
	// Sign is what the container is judged by while it runs; nil for its process alone.
	Sign Sign
	// Prepare clears away what a former container left that would be taken for the new one's word.
	// It is called before a start, never before an adoption; nil for nothing.
	Prepare func() error

	running *watched
	digest  string    // of the specification that runs
	command []string  // of the one that should
	stopped bool      // by Stop, and nothing was done since that could have started one
	pull    *pull     // that is under way, or whose end has not been noted; nil for none
	begun   time.Time // when what runs was started; zero when it was not started here
	pulse   pulse     // of what runs

	failure error   // why there is none
	tries   backoff // of starts and pulls that fail
	lives   backoff // of starts that are followed by an early end
}

// Running says whether the container runs. It asks nobody.
func (k *Keeper) Running() bool { return k.running.alive() }

// Ensure makes the container run, and its error says what is wrong with it, or that it is under
// way. While it runs and lives the engine is not asked. After a failure Ensure repeats that failure
// without trying again until a delay has passed that doubles up to a cap: a registry that is away
// for hours is asked twice a minute. A container that was made from another specification is kept
// until it can be replaced.
func (k *Keeper) Ensure(ctx context.Context, spec container.Spec) error {
	var trouble error
	if k.Running() {
		if trouble = k.feel(ctx, spec.Name); k.digest == spec.Digest() {
			return trouble
		}
	}
	if err := k.renew(ctx, spec); err != nil {
		return cmp.Or(trouble, err)
	}
	return nil
}

// renew puts a container in the place of none, or of one that was made from another specification.
func (k *Keeper) renew(ctx context.Context, spec container.Spec) error {
	k.bury(spec.Name)
	k.command = spec.Command
	if k.pull == nil && k.failure != nil && (k.tries.wait() || k.lives.wait()) {
		return k.failure
	}
	k.stopped = false
	err := k.fetched(spec.Image)
	if err == nil {
		err = k.start(ctx, spec)
	}
	switch {
	case errors.As(err, new(UnderWay)):
		return cmp.Or(k.failure, err) // until a repeated attempt has ended, what is known is how the last one did
	case err != nil:
		k.failure = err
		k.tries.longer(time.Now(), limit(err))
		return err
	}
	k.failure, k.tries = nil, backoff{}
	return nil
}

// bury takes note of a container that has ended by itself. One that did so soon after its start is
// not started again at once.
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
	}
	// The image comes first, so that a container that still serves is not taken away before its
	// successor can start.
	present, err := k.Engine.HasImage(ctx, spec.Image)
	if err != nil {
		return err
	}
	if !present {
		if found && state.Running && state.Digest != spec.Digest() && !k.Running() {
			_ = k.adopt(ctx, spec.Name, state) // it serves without us too, and the next round that needs it looks again
		}
		return k.fetch(ctx, spec.Image)
	}
	if err := k.launch(ctx, spec, state, found); err != nil {
		return err
	}
	return k.meet(ctx, spec, reason(state, found, spec))
}

// launch starts a container where the engine found this state. One that was made from the same
// specification and never started gets its turn, however slow the disk is, unless it cannot be
// started. Another one is replaced, also when it has only ended: whoever removes it by force has it
// end first, and if it was started in between, it would run on and the engine would not know it any
// more. One of whose end the engine has not heard is replaced too: who should have told it was
// killed.
func (k *Keeper) launch(ctx context.Context, spec container.Spec, state container.State, found bool) error {
	if found && state.New && state.Digest == spec.Digest() {
		if err := k.prepare(spec.Name); err != nil {
			return err
		}
		err := k.Engine.StartAgain(ctx, spec.Name)
		if err == nil {
			return nil
		}
		if errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return err // it may yet start
		}
	}
	if found {
		if err := k.replace(ctx, spec.Name, state.Running && state.Digest != spec.Digest()); err != nil {
			return err
		}
	}
	if err := k.prepare(spec.Name); err != nil {
		return err
	}
	if err := k.Engine.Start(ctx, spec); err != nil {
		return fmt.Errorf("start container %s: %w", spec.Name, err)
	}
	return nil
}

func (k *Keeper) prepare(name string) error {
	if k.Prepare == nil {
		return nil
	}
	if err := k.Prepare(); err != nil {
		return fmt.Errorf("prepare container %s: %w", name, err)
	}
	return nil
}

// meet watches a container that has just been started.
func (k *Keeper) meet(ctx context.Context, spec container.Spec, why string) error {
	state, found, err := k.Engine.Inspect(ctx, spec.Name)
	if err != nil {
		return fmt.Errorf("look at container %s: %w", spec.Name, err)
	}
	if !found || !state.Running {
		return costly{fmt.Errorf("container %s ended right after its start, with exit code %d: podman logs %s says why", spec.Name, state.ExitCode, spec.Name)}
	}
	if err := k.watch(spec.Name, state); err != nil {
		return err
	}
	k.begun, k.pulse, k.digest = time.Now(), newborn(), state.Digest
	k.Log.Info("start container", "container", spec.Name, "why", why)
	return nil
}

// reason says why a container is started where the engine found this state.
func reason(s container.State, found bool, spec container.Spec) string {
	switch {
	case !found:
		return "there was none"
	case s.Running && s.Digest != spec.Digest():
		return "the former one was made from another specification"
	case s.New:
		return "the former one was never started"
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
	if err := k.watch(name, state); err != nil {
		return err
	}
	k.begun, k.pulse, k.digest = time.Time{}, pulse{}, state.Digest
	k.Log.Info("adopt container", "container", name, "was_paused", state.Paused)
	return nil
}

// watch takes on the container's first process. The error is os.ErrProcessDone when that has ended,
// also when another process has been given its number since.
func (k *Keeper) watch(name string, state container.State) error {
	process, err := k.Open(state.PID)
	if err != nil {
		return fmt.Errorf("watch container %s: %w", name, err)
	}
	if own, err := process.Of(state.ID); err != nil || !own {
		_ = process.Close()
		return fmt.Errorf("watch container %s: process %d is not its first: %w", name, state.PID, cmp.Or(err, os.ErrProcessDone))
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
