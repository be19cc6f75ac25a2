//go:build remote

package podman

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// EnsureImage pulls an image that is not in local storage, in one attempt, and says whether it did. What is present is never pulled again, so
// that a host works while its registry is down. authFile names registry credentials in Docker's form, is read at each attempt and may be
// absent. An attempt may last as long as something arrives: podman keeps the layers that are complete for the next one, and no part of others.
func (e *Engine) EnsureImage(ctx context.Context, image, authFile string) (pulled bool, err error) {
	present, err := e.hasImage(ctx, image)
	if err != nil || present {
		return false, err
	}
	known, err := readCredentials(image, authFile)
	if err != nil {
		return false, err
	}
	if err := e.pull(ctx, image, known.header); err != nil {
		return false, fmt.Errorf("pull image %s: %w", image, known.explain(oneLine(err)))
	}
	// An answer that was cut looks like a whole one, when the service died in the midst of it.
	switch present, err := e.hasImage(ctx, image); {
	case err != nil:
		return false, err
	case !present:
		return false, fmt.Errorf("pull image %s: podman's service ended before the image was complete", image)
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
