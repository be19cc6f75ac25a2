//go:build remote

package podman

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"time"

	"github.com/containers/podman/v4/pkg/bindings"
)

// pullSilence is how long a pull may make no progress before it counts as hung. A registry that
// fetches a layer from another one first, and a slow disk that unpacks one, need minutes; TCP
// itself detects a lost peer in five.
const pullSilence = 5 * time.Minute

// pullStep is a line of the answer to a pull. Podman 4 and 5 send an error in one of these fields.
type pullStep struct {
	Error   string `json:"error"`
	Message string `json:"message"`
}

// pull pulls an image even if it is in local storage. It uses the API that podman shares with
// Docker, which alone reports progress within a layer: without it a slow line seems to be dead.
func (e *Engine) pull(ctx context.Context, image string, credentials http.Header) error {
	service, err := e.open(ctx)
	if err != nil {
		return err
	}
	connection, err := bindings.GetClient(service)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	hung := time.AfterFunc(e.pullSilence, func() {
		cancel(fmt.Errorf("no progress for %s", e.pullSilence))
	})
	defer hung.Stop()

	request, err := http.NewRequestWithContext(ctx, http.MethodPost,
		"http://d/v1.40/images/create?fromImage="+url.QueryEscape(image), http.NoBody)
	if err != nil {
		return err
	}
	maps.Copy(request.Header, credentials)
	answer, err := connection.Client.Do(request)
	if err != nil {
		return why(ctx, err)
	}
	defer answer.Body.Close()
	err = follow(answer.Body, func() { hung.Reset(e.pullSilence) })
	if err == nil && answer.StatusCode != http.StatusOK {
		err = errors.New(answer.Status)
	}
	return why(ctx, err)
}

// follow reads the steps of a pull to the end and returns the first error among them.
func follow(steps io.Reader, progress func()) error {
	for decoder := json.NewDecoder(steps); ; {
		var step pullStep
		switch err := decoder.Decode(&step); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read podman's answer: %w", err)
		case step.Error != "":
			return errors.New(step.Error)
		case step.Message != "":
			return errors.New(step.Message)
		}
		progress()
	}
}
