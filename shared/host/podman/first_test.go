//go:build remote

package podman

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/containers/podman/v4/pkg/bindings/containers"

	"github.com/onprem-infra/onprem-infra/shared/host/proc"
)

// TestNeverStarted creates a container as an interrupted start does: it is reported as one that has
// never run, and can be started.
func TestNeverStarted(t *testing.T) {
	_, e := engine(t)
	spec := idle("onprem-never")
	create(t, e, func(ctx context.Context) error {
		_, err := containers.CreateWithSpec(ctx, generate(spec), nil)
		return err
	})
	if state, _, err := e.Inspect(t.Context(), spec.Name); err != nil || !state.New ||
		state.Running || state.Digest != spec.Digest() {
		t.Errorf("Inspect() = %+v, %v, want it new", state, err)
	}
	if err := e.StartAgain(t.Context(), spec.Name); err != nil {
		t.Fatal(err)
	}
	state, _, err := e.Inspect(t.Context(), spec.Name)
	if err != nil || state.New || !state.Running {
		t.Fatalf("Inspect() = %+v, %v, want it to run", state, err)
	}
	first, err := proc.Open(state.PID)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if own, err := first.Of(state.ID); err != nil || !own {
		t.Errorf("process %d is of container %s: %v, %v", state.PID, state.ID, own, err)
	}
	found, err := proc.First(spec.Command)
	if err != nil || found.PID != state.PID {
		t.Fatalf("First() = %+v, %v, want process %d", found, err, state.PID)
	}
	defer found.Close()
	if other, err := proc.First(append(spec.Command, "more")); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("First() of another command = %+v, %v", other, err)
	}
	if err := e.Remove(t.Context(), spec.Name); err != nil {
		t.Error(err)
	}
}

func create(t *testing.T, e *Engine, f func(context.Context) error) {
	t.Helper()
	ctx, cancel, err := e.call(t.Context(), callWithin)
	if err != nil {
		t.Fatal(err)
	}
	defer cancel()
	if err := f(ctx); err != nil {
		t.Fatal(err)
	}
}
