package daemon

import (
	"context"
	"fmt"
	"syscall"
	"time"
)

const (
	stopGrace = 10 * time.Second
	// promptExit is how soon a container usually exits after SIGTERM, unless it is paused.
	promptExit = time.Second
	// termInterval is how often SIGTERM is repeated. The kernel drops the signal for the first
	// process of a container that has no handler yet. So a container that has just been started
	// would go on and take a VIP.
	termInterval = 50 * time.Millisecond
)

// Stop ends the container in order. It sends SIGTERM to the first process itself, because the
// engine takes tens of milliseconds more, during which a VIP would stay. A stopped or paused
// process is continued, so that it receives the signal. The engine stops a container that does not
// exit in time, or that this run has not watched. While the engine does not answer, the process is
// found by its command. Stop also cancels a pull. It succeeds if no container runs, and a repeated
// call costs nothing.
func (k *Keeper) Stop(ctx context.Context, name string) error {
	if k.stopped {
		return nil
	}
	defer k.cancelPull()()
	if err := k.stop(ctx, name); err != nil {
		return err
	}
	k.running.close()
	k.running, k.stopped, k.started = nil, true, time.Time{}
	return nil
}

func (k *Keeper) stop(ctx context.Context, name string) error {
	if k.terminate(ctx, name) {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("stop container %s: %w", name, err)
	}
	state, found, err := k.Engine.Inspect(ctx, name)
	if err != nil {
		if k.findProcess() && k.terminate(ctx, name) {
			return nil
		}
		return fmt.Errorf("container %s may still run, and keep what it holds: inspect it: %w",
			name, err)
	}
	if found && ours(state) && state.New { // an attempt to start it may still be in progress
		if err := k.Engine.Remove(ctx, name); err != nil {
			return fmt.Errorf("remove container %s: %w", name, err)
		}
	}
	if !found || !state.Running || !ours(state) {
		return nil
	}
	if err := k.Engine.Stop(ctx, name, stopGrace); err != nil {
		return fmt.Errorf("stop container %s: %w", name, err)
	}
	return nil
}

// terminate sends SIGTERM to the container's first process and reports whether it has exited. It
// returns false if no process is watched.
func (k *Keeper) terminate(ctx context.Context, name string) bool {
	if k.Signal(syscall.SIGTERM) != nil {
		return false
	}
	_ = k.Signal(syscall.SIGCONT) // fails only after the exit
	grace, cancel := context.WithTimeout(ctx, stopGrace)
	defer cancel()
	if k.awaitExit(grace, promptExit) {
		return true
	}
	k.unpause(grace, name)
	return k.awaitExit(grace, stopGrace)
}

// findProcess watches a container that an earlier run of this program started, without the engine.
func (k *Keeper) findProcess() bool {
	if k.Find == nil || k.command == nil || k.Running() {
		return false
	}
	process, err := k.Find(k.command)
	if err != nil {
		return false
	}
	k.follow(process)
	k.Log.Info("found the container's process without podman", "command", k.command)
	return true
}

// awaitExit waits for the container's exit and repeats SIGTERM.
func (k *Keeper) awaitExit(ctx context.Context, within time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	repeat := time.NewTicker(termInterval)
	defer repeat.Stop()
	for {
		select {
		case <-k.running.ended:
			return true
		case <-ctx.Done():
			return !k.Running()
		case <-repeat.C:
			_ = k.Signal(syscall.SIGTERM) // fails only after the exit
		}
	}
}

// unpause unpauses a container that has not received its SIGTERM. The call to the engine is
// cancelled when the container exits. If it fails, the engine stops the container after the grace.
func (k *Keeper) unpause(ctx context.Context, name string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := k.running.ended
	go func() {
		select {
		case <-ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	state, found, err := k.Engine.Inspect(ctx, name)
	if err == nil && found && ours(state) && state.Paused {
		_ = k.Engine.Unpause(ctx, name)
	}
}
