//go:build remote

package podman

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strings"

	"github.com/containers/podman/v4/pkg/bindings/images"
)

// EnsureImage pulls an image that is not in local storage, in one attempt, and says whether it did. What is present is never pulled again, so
// that a host works while its registry is down. authFile names registry credentials in Docker's form and may be absent.
func (e *Engine) EnsureImage(ctx context.Context, image, authFile string) (pulled bool, err error) {
	present, err := e.hasImage(ctx, image)
	if err != nil || present {
		return false, err
	}
	options := new(images.PullOptions).WithQuiet(true)
	switch _, err := os.Stat(authFile); {
	case err == nil:
		options.WithAuthfile(authFile)
	case !errors.Is(err, fs.ErrNotExist):
		return false, fmt.Errorf("read registry credentials: %w", err)
	}
	ctx, cancel := e.call(ctx, pullWithin)
	defer cancel()
	if _, err := images.Pull(ctx, image, options); err != nil {
		return false, fmt.Errorf("pull image %s: %w", image, oneLine(ended(ctx, err)))
	}
	if err := ctx.Err(); err != nil { // the bindings take a cut answer for a whole one
		return false, fmt.Errorf("pull image %s: %w", image, err)
	}
	return true, nil
}

// hasImage takes only a clear no for a no. The bindings take every failure for one, which would pull what is there.
func (e *Engine) hasImage(ctx context.Context, image string) (bool, error) {
	ctx, cancel := e.call(ctx, callWithin)
	defer cancel()
	status, err := ask(ctx, nil, "/images/%s/exists", image)
	if status == http.StatusNotFound {
		return false, nil
	}
	if err := ended(ctx, err); err != nil {
		return false, fmt.Errorf("look for image %s: %w", image, oneLine(err))
	}
	return true, nil
}

// oneLine joins podman's list of attempts into one line of a log.
func oneLine(err error) error {
	if err == nil || !strings.ContainsAny(err.Error(), "\r\n") {
		return err
	}
	return errors.New(strings.Join(strings.Fields(err.Error()), " "))
}
