//go:build remote

package podman

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"path/filepath"
	"time"

	"github.com/containers/podman/v4/pkg/bindings/containers"
	"github.com/containers/podman/v4/pkg/errorhandling"

	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/host/podman/archive"
)

const (
	// extractSilence is how long a copy may make no progress.
	extractSilence = 2 * time.Minute
	// links is how many symbolic links may lead to a file.
	links = 8
)

// Extract copies files out of an image, which must be present, into a directory, and returns the
// path there of each one that the image has, by its name. It creates a container of the image and
// removes it; no program of the image ever runs.
func (e *Engine) Extract(ctx context.Context, image string, wanted []container.Wanted, dir string) (
	found map[string]string, err error) {
	name := nameOfExtract(image)
	if err := e.Remove(ctx, name); err != nil { // an earlier call was killed
		return nil, err
	}
	if err := e.create(ctx, name, image); err != nil {
		return nil, err
	}
	defer func() {
		err = errors.Join(err, e.Remove(context.WithoutCancel(ctx), name))
	}()
	found = map[string]string{}
	for _, w := range wanted {
		to := filepath.Join(dir, hex.EncodeToString([]byte(w.Name)))
		switch got, err := e.first(ctx, name, w.From, to); {
		case err != nil:
			return nil, fmt.Errorf("copy %s out of image %s: %w", w.Name, image, err)
		case got:
			found[w.Name] = to
		}
	}
	return found, nil
}

// nameOfExtract is the container's name: one for each image, so that two do not meet.
func nameOfExtract(image string) string {
	sum := sha256.Sum256([]byte(image))
	return "onprem-extract-" + hex.EncodeToString(sum[:6])
}

func (e *Engine) create(ctx context.Context, name, image string) error {
	ctx, cancel, err := e.call(ctx, startWithin)
	if err != nil {
		return fmt.Errorf("create container %s: %w", name, err)
	}
	defer cancel()
	spec := generate(container.Spec{Name: name, Image: image, Command: []string{"/never-started"}})
	if _, err := containers.CreateWithSpec(ctx, spec, nil); err != nil {
		return fmt.Errorf("create container %s from image %s: %w", name, image, why(ctx, err))
	}
	return nil
}

// first copies the first of the files that the image has, and reports whether it has one.
func (e *Engine) first(ctx context.Context, name string, from []string, to string) (bool, error) {
	for _, p := range from {
		for range links {
			link, err := e.copy(ctx, name, p, to)
			if errors.Is(err, archive.ErrAbsent) {
				break
			}
			if err != nil {
				return false, fmt.Errorf("%s: %w", p, err)
			}
			if link == "" {
				return true, nil
			}
			if p = path.Join(path.Dir(p), link); path.IsAbs(link) {
				p = path.Clean(link)
			}
		}
	}
	return false, nil
}

// copy copies one file. If it is a symbolic link, it returns the link's target, which is another
// path of the image: no link is made on this host.
func (e *Engine) copy(ctx context.Context, name, from, to string) (link string, err error) {
	service, err := e.open(ctx)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	hung := time.AfterFunc(extractSilence, func() {
		cancel(fmt.Errorf("no progress for %s", extractSilence))
	})
	defer hung.Stop()
	r, w := io.Pipe()
	send, err := containers.CopyToArchive(call{ctx, service}, name, from, w)
	var answer *errorhandling.ErrorModel
	if errors.As(err, &answer) && answer.Code() == http.StatusNotFound {
		return "", archive.ErrAbsent
	}
	if err != nil {
		return "", why(ctx, err)
	}
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_ = w.CloseWithError(send()) // the reader gets it
	}()
	link, err = archive.Save(progressing{r, func() { hung.Reset(extractSilence) }}, to)
	cancel(err) // ends what is still being sent
	_ = r.Close()
	<-sent
	return link, err
}

// progressing calls a function whenever bytes arrive.
type progressing struct {
	io.Reader
	progress func()
}

func (p progressing) Read(into []byte) (int, error) {
	n, err := p.Reader.Read(into)
	if n > 0 {
		p.progress()
	}
	return n, err
}
