// Package artifact fetches the files that hosts get, and keeps of each of them where it came from
// and its digest, so that no file is served that is not the one that was asked for.
package artifact

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
)

// Store has the files on this machine.
type Store struct {
	Records string        // the directory of what is known of each item's files
	Client  *http.Client  // nil for one that follows the proxy variables of the environment
	Silence time.Duration // how long a transfer may make no progress; 0 for a minute
	Reserve uint64        // bytes that a file system keeps free; 0 for 64 MiB

	room func(dir string) (free uint64, err error) // a test's; nil for the file system's
}

// File is a file that is there, and is the right one.
type File struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"` // bytes
}

// ErrAbsent means that the files of an item are not there, or are others than they have to be.
var ErrAbsent = errors.New("it is not there")

// record is what is known of an item. It is written when all files of the item are in their places.
type record struct {
	Source string `json:"source"`
	Files  []File `json:"files"`
}

func (s *Store) record(item string) string {
	return filepath.Join(s.Records, filepath.Base(item)+".json")
}

// Check reads all files of an item and compares their digests. The error is ErrAbsent if one of
// them is missing or has another digest, or if they came from another source.
func (s *Store) Check(item, source string) ([]File, error) {
	text, err := file.Read(s.record(item))
	if err != nil {
		return nil, fmt.Errorf("read what is known of %s: %w", item, err)
	}
	var r record
	if json.Unmarshal(text, &r) != nil || r.Source != source || len(r.Files) == 0 {
		return nil, ErrAbsent
	}
	for _, f := range r.Files {
		sum, size, err := digest(f.Path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && (sum != f.SHA256 || size != f.Size) {
			return nil, ErrAbsent
		}
		if err != nil {
			return nil, fmt.Errorf("check the digest of %s: %w", f.Path, err)
		}
		if err := writeDigest(f); err != nil {
			return nil, err
		}
	}
	return r.Files, nil
}

// digest reads a regular file. Another kind of file counts as none.
func digest(path string) (sum string, size int64, err error) {
	f, err := openRegular(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	hash := sha256.New()
	if size, err = io.Copy(hash, f); err != nil {
		return "", 0, err
	}
	return hex.EncodeToString(hash.Sum(nil)), size, nil
}

// openRegular opens a file that may be a link to one, and does not wait for the writer of a pipe.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return os.Open(path)
}

// commit puts files that are written and synchronised in their places, and then records them. A
// power cut between the two leaves files that the next check does not accept.
func (s *Store) commit(item, source string, files []File) error {
	for _, f := range files {
		if err := os.Rename(partOf(f.Path), f.Path); err != nil {
			return err
		}
		if err := syncDir(filepath.Dir(f.Path)); err != nil {
			return err
		}
		if err := writeDigest(f); err != nil {
			return err
		}
	}
	text, err := json.Marshal(record{source, files})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.Records, 0o755); err != nil {
		return err
	}
	return file.Write(s.record(item), append(text, '\n'), 0o644)
}

// writeDigest writes the digest beside a file, as sha256sum prints it.
func writeDigest(f File) error {
	line := f.SHA256 + "  " + filepath.Base(f.Path) + "\n"
	_, err := file.WriteIfChanged(f.Path+layout.Digest, []byte(line), 0o644)
	return err
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// partOf is where a file is while it is written: hidden, and beside its place.
func partOf(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".part")
}

// Staged is a file that another program has written, and where it belongs.
type Staged struct{ From, To string }

// Adopt copies files to their places. One file may have several.
func (s *Store) Adopt(item, source string, staged []Staged) ([]File, error) {
	var files []File
	for _, one := range staged {
		f, err := s.copy(one)
		if err != nil {
			return nil, fmt.Errorf("put %s in its place: %w", one.To, err)
		}
		files = append(files, f)
	}
	if err := s.commit(item, source, files); err != nil {
		return nil, fmt.Errorf("put the files of %s in their places: %w", item, err)
	}
	return files, nil
}

func (s *Store) copy(one Staged) (f File, err error) {
	from, err := openRegular(one.From)
	if err != nil {
		return File{}, err
	}
	defer from.Close()
	w, err := s.create(one.To, false)
	if err != nil {
		return File{}, err
	}
	hash := sha256.New()
	size, err := io.Copy(w, io.TeeReader(from, hash))
	if err := w.end(err, false); err != nil {
		return File{}, err
	}
	return File{one.To, hex.EncodeToString(hash.Sum(nil)), size}, nil
}
