package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Exists reports whether there is a file or a directory at path.
func Exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Regular reports whether there is a regular file at path, or a link to one.
func Regular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Read reads a file. One that does not exist is nil.
func Read(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// ErrLong is the error of a file that is longer than its reader allows.
var ErrLong = errors.New("the file is too long")

// ReadGiven reads a file that a person has named, and no more of it than limit bytes, so that a
// device without an end is read too. Its error says what to do. A longer file is ErrLong, beside
// its first limit bytes.
func ReadGiven(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: name a file that can be read", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%w: name a file that can be read", err)
	}
	if int64(len(text)) > limit {
		return text[:limit], fmt.Errorf("%s: %w: %d bytes at most", path, ErrLong, limit)
	}
	return text, nil
}

// Remove removes a file, if it exists.
func Remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
