package output

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/asset"
)

// stage is files that are written, but not yet in their places.
type stage struct {
	root  *os.Root
	moves []move
	dirs  []string // that were made, parents first
}

type move struct{ from, to string }

// add writes one file beside its place, and its text to the disk: otherwise a loss of power soon
// after the move could leave an empty file. The directory may follow later, as with a document:
// until then the former file is in the place.
func (s *stage) add(f asset.File) error {
	to := below(f.Path)
	if err := s.mkdirs(path.Dir(to)); err != nil {
		return err
	}
	// A killed process leaves its files behind. In a container the next one has its number.
	from := path.Join(path.Dir(to), fmt.Sprintf(".%s.%x", path.Base(to), rand.Uint64()))
	file, err := s.root.OpenFile(from, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	s.moves = append(s.moves, move{from, to})
	_, err = file.Write(f.Contents)
	return errors.Join(err, file.Chmod(f.Mode), file.Sync(), file.Close())
}

// mkdirs makes a directory and its parents, readable by all whatever the caller's mask is.
func (s *stage) mkdirs(dir string) error {
	_, err := s.root.Stat(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := s.mkdirs(path.Dir(dir)); err != nil {
		return err
	}
	if err := s.root.Mkdir(dir, 0o755); errors.Is(err, fs.ErrExist) {
		_, err := s.root.Stat(dir) // another run has made it meanwhile
		return err
	} else if err != nil {
		return err
	}
	s.dirs = append(s.dirs, dir)
	return s.root.Chmod(dir, 0o755)
}

func (s *stage) commit() error {
	for _, m := range s.moves {
		if err := s.root.Rename(m.from, m.to); err != nil {
			return at(s.root, m.to, "write", err)
		}
	}
	s.moves, s.dirs = nil, nil
	return nil
}

// clear removes the files and directories that add has made and commit has not moved.
func (s *stage) clear() {
	for _, m := range s.moves {
		_ = s.root.Remove(m.from)
	}
	for _, dir := range slices.Backward(s.dirs) {
		_ = s.root.Remove(dir)
	}
}
