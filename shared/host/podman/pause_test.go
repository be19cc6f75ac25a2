//go:build remote

package podman

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// A paused container has processes, and continues with the same ones.
func TestUnpause(t *testing.T) {
	s, e := engine(t)
	spec := idle("onprem-paused")
	if err := errors.Join(
		e.Unpause(t.Context(), spec.Name), e.Start(t.Context(), spec),
	); err != nil {
		t.Fatal(err)
	}
	before, _, err := e.Inspect(t.Context(), spec.Name)
	if err != nil || before.Paused {
		t.Fatalf("Inspect() = %+v, %v, want it running", before, err)
	}
	s.run(nil, "pause", spec.Name)
	paused := before
	paused.Paused = true
	if state, found, err := e.Inspect(t.Context(), spec.Name); err != nil || !found ||
		state != paused {
		t.Errorf("Inspect() while it is paused = %+v, %v, %v, want %+v", state, found, err, paused)
	}
	for range 2 { // what is not paused is left as it is
		if err := e.Unpause(t.Context(), spec.Name); err != nil {
			t.Fatal(err)
		}
		if state, _, err := e.Inspect(t.Context(), spec.Name); err != nil || state != before {
			t.Errorf("Inspect() after Unpause() = %+v, %v, want %+v", state, err, before)
		}
	}
}

// podman refuses to stop a paused container, and a paused process handles no signal. It must exit
// in order nevertheless.
func TestStopOfAPausedContainer(t *testing.T) {
	s, e := engine(t)
	spec := idle("onprem-paused")
	if err := e.Start(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	s.run(nil, "pause", spec.Name)
	within(t, 8*time.Second, "stop", func() {
		if err := e.Stop(t.Context(), spec.Name, 10*time.Second); err != nil {
			t.Error(err)
		}
	})
	if state, found, err := e.Inspect(t.Context(), spec.Name); err != nil || !found ||
		state.Running || state.Paused || state.ExitCode != 0 {
		t.Errorf(
			"Inspect() = %+v, %v, %v, want it there, ended by SIGTERM with 0", state, found, err,
		)
	}
}

func TestRemoveOfAPausedContainer(t *testing.T) {
	s, e := engine(t)
	spec := idle("onprem-paused")
	if err := e.Start(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	s.run(nil, "pause", spec.Name)
	if err := e.Remove(t.Context(), spec.Name); err != nil {
		t.Fatal(err)
	}
	if _, found, err := e.Inspect(t.Context(), spec.Name); found || err != nil {
		t.Errorf("Inspect() = %v, %v, want nothing left", found, err)
	}
}

// A container that is not ours keeps its name, which is an error when ours is started. When it is
// removed the name is ours again.
func TestNameTaken(t *testing.T) {
	s, e := engine(t)
	spec := idle("onprem-keepalived")
	s.run(
		nil, "create", "--name", spec.Name, "--network", "host", "--entrypoint",
		`["/inmate","idle"]`, image,
	)
	foreign := s.run(nil, "inspect", "--format", "{{.Id}}", spec.Name)
	for verb, err := range map[string]error{
		"Start": e.Start(t.Context(), spec), "Unpause": e.Unpause(t.Context(), spec.Name),
		"Remove": e.Remove(t.Context(), spec.Name),
	} {
		if err == nil || !strings.Contains(err.Error(), spec.Name) {
			t.Errorf("%s() = %v, want a refusal that names it", verb, err)
		}
	}
	if now := s.run(nil, "inspect", "--format", "{{.Id}}", spec.Name); now != foreign {
		t.Errorf("the container is %s, want the foreign one, %s", now, foreign)
	}
	s.run(nil, "rm", spec.Name)
	if err := e.Start(t.Context(), spec); err != nil {
		t.Errorf("Start() once the name is free: %v", err)
	}
}

// A container that is removed by hand is no error for Stop and Remove, and its name is free at
// once.
func TestRemovedByHand(t *testing.T) {
	s, e := engine(t)
	spec := idle("onprem-removed")
	for range 3 {
		if err := e.Start(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
		s.run(nil, "rm", "--force", "--time=0", spec.Name)
		if _, found, err := e.Inspect(t.Context(), spec.Name); found || err != nil {
			t.Fatalf("Inspect() = %v, %v, want nothing", found, err)
		}
		if err := errors.Join(
			e.Stop(t.Context(), spec.Name, time.Second), e.Remove(t.Context(), spec.Name),
		); err != nil {
			t.Fatal(err)
		}
	}
}
