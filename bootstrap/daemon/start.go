package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/container"
)

func (k *Keeper) start(ctx context.Context, spec container.Spec) error {
	state, found, err := k.Engine.Inspect(ctx, spec.Name)
	switch {
	case err != nil:
		return fmt.Errorf("inspect container %s: %w", spec.Name, err)
	case found && !ours(state):
		return fmt.Errorf(
			"the name %s is taken by a container that is not ours: remove it or rename it",
			spec.Name)
	case found && state.Running && state.Digest == spec.Digest():
		if err := k.adopt(ctx, spec.Name, state); !errors.Is(err, os.ErrProcessDone) {
			return err
		}
	}
	// The image comes first: the former container serves until its replacement can start.
	present, err := k.Engine.HasImage(ctx, spec.Image)
	if err != nil {
		return err
	}
	if !present {
		if found && state.Running && state.Digest != spec.Digest() && !k.Running() {
			// If this fails it serves all the same, and the next start inspects it again.
			_ = k.adopt(ctx, spec.Name, state)
		}
		return k.startPull(ctx, spec.Image)
	}
	if err := k.launch(ctx, spec, state, found); err != nil {
		return err
	}
	return k.watchStarted(ctx, spec, reason(state, found, spec))
}

// launch starts a container, given the state that the engine reported. It starts an existing one of
// the same specification that has never run, because creating one again takes long on a slow disk.
// It replaces any other one. An exited container is replaced too: if a forced removal is in
// progress, a restarted container would run on without being known to the engine. The same holds
// for one that exited unnoticed because its monitoring process was killed.
func (k *Keeper) launch(
	ctx context.Context, spec container.Spec, state container.State, found bool,
) error {
	if found && state.New && state.Digest == spec.Digest() {
		if err := k.prepare(spec.Name); err != nil {
			return err
		}
		err := k.Engine.StartAgain(ctx, spec.Name)
		if err == nil || errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return err // an attempt that was cut short may yet start it
		}
	}
	if found {
		if err := k.replace(ctx, spec, state); err != nil {
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

// watchStarted watches a container that has just been started.
func (k *Keeper) watchStarted(ctx context.Context, spec container.Spec, why string) error {
	state, found, err := k.Engine.Inspect(ctx, spec.Name)
	if err != nil {
		return fmt.Errorf("inspect container %s: %w", spec.Name, err)
	}
	if !found || !state.Running {
		return costly{fmt.Errorf("container %s exited right after its start, with exit code %d: "+
			"run podman logs %s for the reason", spec.Name, state.ExitCode, spec.Name)}
	}
	if err := k.watch(spec.Name, state); err != nil {
		return err
	}
	k.started, k.digest = time.Now(), state.Digest
	k.liveness = liveness{allowance: startAllowance}
	k.Log.Info("start container", "container", spec.Name, "why", why)
	return nil
}

// reason is why a container is started, given the state that the engine reported.
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

// replace removes the former container, and stops it if it has another specification.
func (k *Keeper) replace(ctx context.Context, spec container.Spec, former container.State) error {
	if former.Running && former.Digest != spec.Digest() {
		if err := k.Engine.Stop(ctx, spec.Name, stopGrace); err != nil {
			return fmt.Errorf("stop the former container %s: %w", spec.Name, err)
		}
	}
	if err := k.Engine.Remove(ctx, spec.Name); err != nil {
		return fmt.Errorf("remove the former container %s: %w", spec.Name, err)
	}
	return nil
}

// adopt watches a container that an earlier run of this program started.
func (k *Keeper) adopt(ctx context.Context, name string, state container.State) error {
	if state.Paused {
		if err := k.Engine.Unpause(ctx, name); err != nil {
			return err
		}
	}
	if err := k.watch(name, state); err != nil {
		return err
	}
	k.started, k.liveness, k.digest = time.Time{}, liveness{}, state.Digest
	k.Log.Info("adopt container", "container", name, "was_paused", state.Paused)
	return nil
}

// watch watches the container's first process. It returns os.ErrProcessDone if that process has
// exited, also if another process has its PID by now.
func (k *Keeper) watch(name string, state container.State) error {
	process, err := k.Open(state.PID)
	if err != nil {
		return fmt.Errorf("watch container %s: %w", name, err)
	}
	if own, err := process.Of(state.ID); err != nil || !own {
		_ = process.Close()
		return fmt.Errorf("watch container %s: process %d is not its first: %w",
			name, state.PID, cmp.Or(err, os.ErrProcessDone))
	}
	k.follow(process)
	return nil
}
