package daemon

import (
	"context"
	"fmt"
	"syscall"
	"time"
)

// Stop ends the container in order. SIGTERM goes straight to its first process, because the way through the engine costs tens of
// milliseconds during which a VIP would stay. A container that does not end in time, or that nobody here has seen running, is left to
// the engine. Stop succeeds when there is nothing to stop, and costs nothing when it is called again.
func (k *Keeper) Stop(ctx context.Context, name string) error {
	if k.stopped {
		return nil
	}
	if err := k.stop(ctx, name); err != nil {
		return err
	}
	k.running.close()
	k.running, k.stopped = nil, true
	return nil
}

func (k *Keeper) stop(ctx context.Context, name string) error {
	if k.Signal(syscall.SIGTERM) == nil {
		grace := time.NewTimer(stopGrace)
		defer grace.Stop()
		select {
		case <-k.running.ended:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("stop container %s: %w", name, ctx.Err())
		case <-grace.C:
		}
	}
	state, found, err := k.Engine.Inspect(ctx, name)
	if err != nil {
		return fmt.Errorf("look at container %s: %w", name, err)
	}
	if !found || !state.Running || !ours(state) {
		return nil
	}
	if err := k.Engine.Stop(ctx, name, stopGrace); err != nil {
		return fmt.Errorf("stop container %s: %w", name, err)
	}
	return nil
}
