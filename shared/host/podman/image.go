//go:build remote

package podman

import (
	"context"
	"fmt"
	"net/http"
)

// Pull pulls an image in one attempt. authFile has registry credentials in Docker's format; it is
// read at each attempt and may not exist. An attempt may last as long as data arrives: podman keeps
// complete layers for the next attempt, and no part of others.
func (e *Engine) Pull(ctx context.Context, image, authFile string) error {
	known, err := readCredentials(image, authFile)
	if err != nil {
		return err
	}
	if err := e.pull(ctx, image, known.header); err != nil {
		return fmt.Errorf("pull image %s: %w", image, known.explain(err))
	}
	// If the service exits in the middle of an answer, the answer looks complete.
	switch present, err := e.HasImage(ctx, image); {
	case err != nil:
		return err
	case !present:
		return fmt.Errorf("pull image %s: podman's service ended before the image was complete",
			image)
	}
	return nil
}

// HasImage reports whether an image is in local storage. Such an image is not pulled again, so that
// a host works while its registry is down. Only status 404 means no; the bindings would take every
// failure for it.
func (e *Engine) HasImage(ctx context.Context, image string) (bool, error) {
	ctx, cancel, err := e.call(ctx, callWithin)
	if err != nil {
		return false, fmt.Errorf("inspect image %s: %w", image, err)
	}
	defer cancel()
	status, err := ask(ctx, nil, "/images/%s/exists", image)
	if status == http.StatusNotFound {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("inspect image %s: %w", image, why(ctx, err))
	}
	return true, nil
}
