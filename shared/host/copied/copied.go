// Package copied takes the place of a container engine in a pod: the files of images are where the
// pod's first containers have copied them.
package copied

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/onprem-infra/onprem-infra/shared/container"
)

// Images has the files of images, each below Dir by its name.
type Images struct{ Dir string }

// HasImage is true: a pod starts with its images.
func (Images) HasImage(context.Context, string) (bool, error) { return true, nil }

// Pull does nothing.
func (Images) Pull(context.Context, string, string) error { return nil }

// Extract links the files that are there into a directory of the same file system, and returns them
// by their names. The copies stay, for another attempt.
func (c Images) Extract(_ context.Context, _ string, wanted []container.Wanted, dir string) (
	map[string]string, error) {
	found := map[string]string{}
	for _, w := range wanted {
		to := filepath.Join(dir, w.Name)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return nil, err
		}
		switch err := os.Link(filepath.Join(c.Dir, w.Name), to); {
		case err == nil:
			found[w.Name] = to
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return found, nil
}
