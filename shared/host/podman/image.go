//go:build remote

package podman

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Pull fetches an image, in one attempt. authFile names registry credentials in Docker's form, is
// read at each attempt and may be absent. An attempt may last as long as something arrives: podman
// keeps the layers that are complete for the next one, and no part of others.
func (e *Engine) Pull(ctx context.Context, image, authFile string) error {
	known, err := readCredentials(image, authFile)
	if err != nil {
		return err
	}
	if err := e.pull(ctx, image, known.header); err != nil {
		return fmt.Errorf("pull image %s: %w", image, known.explain(oneLine(err)))
	}
	// An answer that was cut looks like a whole one, when the service died in the midst of it.
	switch present, err := e.HasImage(ctx, image); {
	case err != nil:
		return err
	case !present:
		return fmt.Errorf("pull image %s: podman's service ended before the image was complete", image)
	}
	return nil
}

// HasImage says whether an image is in local storage. What is there is not to be pulled again, so
// that a host works while its registry is down. Only a clear no is a no: the bindings take every
// failure for one.
func (e *Engine) HasImage(ctx context.Context, image string) (bool, error) {
	ctx, cancel, err := e.call(ctx, callWithin)
	if err != nil {
		return false, fmt.Errorf("look for image %s: %w", image, err)
	}
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
