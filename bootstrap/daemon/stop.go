package daemon

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/loop"
)

const (
	stopGrace = 10 * time.Second
	// hears is how soon a container that hears its SIGTERM has ended, as a rule; there is no harm
	// in being wrong.
	hears = time.Second
	// insist is how often SIGTERM is repeated. The first process of a container does not get one
	// that comes before it listens: the kernel spares it what would end other processes. So one
	// that has just been started would go on, and take a VIP.
	insist = 50 * time.Millisecond
)

// Stop ends the container in order. SIGTERM goes straight to its first process, because the way
// through the engine costs tens of milliseconds during which a VIP would stay. A process that is
// stopped or paused hears it once it goes on, so it is made to. A container that does not end in
// time, or that nobody here has seen running, is left to the engine; while that cannot be asked,
// its process is looked for. Stop succeeds when there is nothing to stop, and costs nothing when it
// is called again. A pull ends too.
func (k *Keeper) Stop(ctx context.Context, name string) error {
	if k.stopped {
		return nil
	}
	defer k.forgo()()
	if err := k.stop(ctx, name); err != nil {
		return err
	}
	k.running.close()
	k.running, k.stopped, k.begun = nil, true, time.Time{}
	return nil
}

func (k *Keeper) stop(ctx context.Context, name string) error {
	if k.end(ctx, name) {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("stop container %s: %w", name, err)
	}
	state, found, err := k.Engine.Inspect(ctx, name)
	if err != nil {
		if k.find() && k.end(ctx, name) {
			return nil
		}
		return fmt.Errorf("container %s may still run, and keep what it holds: look at it: %w", name, err)
	}
	if found && ours(state) && state.New { // nobody knows whether an attempt to start it is still under way
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

// end asks the container's first process to end, and says whether it has. It is false when nobody
// here knows that process.
func (k *Keeper) end(ctx context.Context, name string) bool {
	if k.Signal(syscall.SIGTERM) != nil {
		return false
	}
	_ = k.Signal(syscall.SIGCONT) // one that has ended meanwhile does not need it
	grace, cancel := context.WithTimeout(ctx, stopGrace)
	defer cancel()
	if k.ends(grace, hears) {
		return true
	}
	k.thaw(grace, name)
	return k.ends(grace, stopGrace)
}

// find takes on a container that an earlier run of this program left, without the engine.
func (k *Keeper) find() bool {
	if k.Find == nil || k.command == nil || k.Running() {
		return false
	}
	process, err := k.Find(k.command)
	if err != nil {
		return false
	}
	k.running.close()
	k.running = watch(process, func() { loop.Wake(k.Wake) })
	k.Log.Info("found the container's process without podman", "command", k.command)
	return true
}

// ends waits for the container's end, and goes on asking for it.
func (k *Keeper) ends(ctx context.Context, within time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	again := time.NewTicker(insist)
	defer again.Stop()
	for {
		select {
		case <-k.running.ended:
			return true
		case <-ctx.Done():
			return !k.Running()
		case <-again.C:
			_ = k.Signal(syscall.SIGTERM) // it may have ended meanwhile
		}
	}
}

// thaw unpauses a container that has not heard its SIGTERM. An engine that is slow to answer is not
// waited for once the container has ended, and what it cannot do now is asked of it again after the
// grace.
func (k *Keeper) thaw(ctx context.Context, name string) {
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
	if state, found, err := k.Engine.Inspect(ctx, name); err == nil && found && ours(state) && state.Paused {
		_ = k.Engine.Unpause(ctx, name)
	}
}
