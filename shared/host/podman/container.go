//go:build remote

package podman

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/containers/podman/v4/pkg/bindings"
	"github.com/containers/podman/v4/pkg/bindings/containers"

	"github.com/onprem-infra/onprem-infra/shared/container"
)

// label marks a container as ours and holds the digest of its specification.
const label = "io.onprem-infra.spec"

// seen is the part of podman's description of a container that is read. The bindings' own type does
// not fit every version of the service: podman 5 changed fields that do not matter here.
type seen struct {
	ID    string `json:"Id"`
	State struct {
		Status   string
		Running  bool // false while it is paused
		Paused   bool
		Pid      int
		ExitCode int
	}
	Config struct{ Labels map[string]string }
}

func (s seen) alive() bool { return s.State.Running || s.State.Paused }

// Inspect is a container by its name; found is false if there is none.
func (e *Engine) Inspect(
	ctx context.Context, name string,
) (state container.State, found bool, err error) {
	ctx, cancel, err := e.call(ctx, callWithin)
	if err != nil {
		return container.State{}, false, err
	}
	defer cancel()
	s, found, err := inspect(ctx, name)
	if err != nil {
		return container.State{}, false, err
	}
	return container.State{
		ID: s.ID, Running: s.alive(), Paused: s.State.Paused,
		New: s.State.Status == "created" || s.State.Status == "initialized",
		PID: s.State.Pid, ExitCode: s.State.ExitCode, Digest: s.Config.Labels[label],
	}, found, nil
}

// Start creates a container and starts it. Its image must be present and its name free of any that
// podman knows. If it cannot be started it is removed again, unless ctx has ended.
func (e *Engine) Start(ctx context.Context, spec container.Spec) error {
	ctx, cancel, err := e.call(ctx, startWithin)
	if err != nil {
		return fmt.Errorf("start container %s: %w", spec.Name, err)
	}
	defer cancel()
	created, err := containers.CreateWithSpec(ctx, generate(spec), nil)
	if nameInUse(err) {
		if err := removeRemains(ctx, spec.Name); err != nil {
			return err
		}
		created, err = containers.CreateWithSpec(ctx, generate(spec), nil)
	}
	if err != nil {
		return fmt.Errorf("create container %s from image %s: %w", spec.Name, spec.Image,
			why(ctx, err))
	}
	if err := start(ctx, spec.Name, created.ID); err != nil {
		if ctx.Err() == nil { // else the caller has no time, and finds it by its name
			_, _ = containers.Remove(ctx, created.ID,
				new(containers.RemoveOptions).WithForce(true).WithIgnore(true))
		}
		return err
	}
	return nil
}

// nameInUse reports whether podman created no container because its name is taken.
func nameInUse(err error) bool {
	return err != nil && strings.Contains(err.Error(), "name is already in use")
}

// removeRemains removes what is left of a container that podman does not know. podman creates and
// removes a container in its storage and in its database one after the other: after a power cut
// between the two the storage still has the name, and podman refuses it for good. A container that
// podman knows stays, and so does one that another program, such as buildah, has mounted: without
// force podman refuses to remove that one.
func removeRemains(ctx context.Context, name string) error {
	if _, found, err := inspect(ctx, name); err != nil || found {
		return cmp.Or(err, fmt.Errorf("create container %s: another program has made one of that "+
			"name: remove it or rename it", name))
	}
	_, err := containers.Remove(ctx, name, new(containers.RemoveOptions).WithIgnore(true))
	if err := why(ctx, err); err != nil {
		return fmt.Errorf("remove what storage has of container %[1]s, which podman does not "+
			"know: %[2]w: try podman rm --force %[1]s", name, err)
	}
	return nil
}

func start(ctx context.Context, name, id string) error {
	if err := containers.Start(ctx, id, nil); err != nil {
		return fmt.Errorf("start container %s: %w", name, why(ctx, err))
	}
	return nil
}

// StartAgain starts a container of ours that exists and does not run, as it was created. One that
// runs stays as it is.
func (e *Engine) StartAgain(ctx context.Context, name string) error {
	return e.change(ctx, name, startWithin, func(ctx context.Context, s seen) error {
		if s.ID == "" {
			return fmt.Errorf("start container %s: it does not exist any more", name)
		}
		return start(ctx, name, s.ID)
	})
}

// Unpause lets the processes of a container of ours run again. One that is not paused or does not
// exist stays as it is.
func (e *Engine) Unpause(ctx context.Context, name string) error {
	return e.change(ctx, name, callWithin, func(ctx context.Context, s seen) error {
		return unpause(ctx, name, s)
	})
}

func unpause(ctx context.Context, name string, s seen) error {
	if !s.State.Paused {
		return nil
	}
	if err := containers.Unpause(ctx, s.ID, nil); err != nil {
		return fmt.Errorf("unpause container %s: %w", name, why(ctx, err))
	}
	return nil
}

// Stop sends SIGTERM, and SIGKILL after grace (whole seconds, rounded up), and returns when the
// container has exited. A paused one is unpaused first: it handles no signal, and podman does not
// stop it. A container that is not ours is an error. One that does not run or does not exist is no
// error.
func (e *Engine) Stop(ctx context.Context, name string, grace time.Duration) error {
	return e.change(ctx, name, grace+callWithin, func(ctx context.Context, s seen) error {
		if !s.alive() {
			return nil
		}
		if err := unpause(ctx, name, s); err != nil {
			return err
		}
		seconds := uint((grace + time.Second - 1) / time.Second)
		options := new(containers.StopOptions).WithIgnore(true).WithTimeout(seconds)
		err := why(ctx, containers.Stop(ctx, s.ID, options))
		if err != nil && !vanished(err) {
			return fmt.Errorf("stop container %s: %w", name, err)
		}
		return nil
	})
}

// Remove removes a container of ours. It kills one that runs, so Stop it first. One that does not
// exist is no error.
func (e *Engine) Remove(ctx context.Context, name string) error {
	return e.change(ctx, name, callWithin, func(ctx context.Context, s seen) error {
		if s.ID == "" {
			return nil
		}
		options := new(containers.RemoveOptions).WithForce(true).WithIgnore(true).WithTimeout(0)
		_, err := containers.Remove(ctx, s.ID, options)
		if err := why(ctx, err); err != nil && !vanished(err) {
			return fmt.Errorf("remove container %s: %w", name, err)
		}
		return nil
	})
}

// change calls f for a container of ours. A zero seen means that there is no container.
func (e *Engine) change(
	ctx context.Context, name string, within time.Duration, f func(context.Context, seen) error,
) error {
	ctx, cancel, err := e.call(ctx, within)
	if err != nil {
		return err
	}
	defer cancel()
	s, err := ours(ctx, name)
	if err != nil {
		return err
	}
	return f(ctx, s)
}

// ours is inspect, with an error for a container that is not ours.
func ours(ctx context.Context, name string) (seen, error) {
	s, found, err := inspect(ctx, name)
	if err != nil || !found {
		return seen{}, err
	}
	if s.Config.Labels[label] == "" {
		return seen{}, fmt.Errorf("container %s exists and is not part of onprem-infra "+
			"(it has no label %s): remove or rename it", name, label)
	}
	return s, nil
}

func inspect(ctx context.Context, name string) (s seen, found bool, err error) {
	status, err := ask(ctx, &s, "/containers/%s/json", name)
	if status == http.StatusNotFound || vanished(err) {
		return seen{}, false, nil
	}
	if err != nil {
		return seen{}, false, fmt.Errorf("inspect container %s: %w", name, why(ctx, err))
	}
	return s, true, nil
}

// vanished reports whether another program removed a container while podman inspected it. podman
// reports that as a fault of its own, so only the text differs.
func vanished(err error) bool {
	return err != nil && strings.Contains(err.Error(), "no such container")
}

// ask sends a GET for which the bindings have no function that fits. into may be nil.
func ask(ctx context.Context, into any, endpoint string, args ...string) (status int, err error) {
	connection, err := bindings.GetClient(ctx)
	if err != nil {
		return 0, err
	}
	answer, err := connection.DoRequest(ctx, nil, http.MethodGet, endpoint, nil, nil, args...)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	return answer.StatusCode, answer.Process(into)
}
