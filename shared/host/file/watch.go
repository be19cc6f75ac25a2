package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsnotify/fsnotify"

	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// Watch sends to wake, without ever blocking, once when it has begun to watch and then whenever one
// of the files may have changed: written, replaced by a rename, created or removed. A file, and
// even its directory, may be absent. Paths are absolute. It returns nil when ctx ends and an error
// when the watch is lost.
func Watch(ctx context.Context, paths []string, wake chan<- struct{}) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch files: %w", err)
	}
	defer w.Close()
	if err := arm(w, paths); err != nil {
		return err
	}
	for notify := true; ; {
		if notify {
			loop.Wake(wake)
		}
		select {
		case <-ctx.Done():
			return nil
		case event, ok := <-w.Events:
			if !ok {
				return errors.New("watch files: the watcher closed")
			}
			if notify = concerns(event.Name, paths); notify {
				if err := arm(w, paths); err != nil {
					return err
				}
			}
		case err := <-w.Errors:
			// Events were lost: anything may have changed.
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return fmt.Errorf("watch files: %w", err)
			}
			notify = true
		}
	}
}

// concerns reports whether an event at name can mean a change of one of the files: it is the file,
// or a directory above it.
func concerns(name string, paths []string) bool {
	return slices.ContainsFunc(paths, func(p string) bool {
		return name == p || strings.HasPrefix(p, name+"/")
	})
}

// arm watches the directory of each path, or the nearest one above it that exists, until that
// directory comes. It watches directories, as a watched file that is replaced by a rename is
// watched no more.
func arm(w *fsnotify.Watcher, paths []string) error {
	for _, p := range paths {
		for {
			dir := nearest(filepath.Dir(p))
			err := w.Add(dir)
			if errors.Is(err, fs.ErrNotExist) {
				continue // removed since it was found
			}
			if err != nil {
				return fmt.Errorf("watch %s: %w", dir, err)
			}
			if nearest(filepath.Dir(p)) == dir {
				break
			}
		}
	}
	return nil
}

func nearest(dir string) string {
	for dir != filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	return dir
}
