package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
)

// writeDocument writes a verb's document to the file that -o names, whole or not at all; without a name to standard output. An existing
// file keeps its permissions.
func writeDocument(std streams, path string, data []byte) error {
	if path == "" || path == "-" {
		_, err := std.out.Write(data)
		return err
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return notWritten(path, file.Write(path, data, 0o644))
	case err != nil:
		return notWritten(path, err)
	case info.Mode().IsRegular():
		target, err := filepath.EvalSymlinks(path)
		if err != nil {
			return err
		}
		return notWritten(path, file.Write(target, data, info.Mode().Perm()))
	}
	return writeInto(path, data)
}

// notWritten says why a file or a tree could not be written, by the name that the user gave it, and what to do where that is known.
func notWritten(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("write %s: there is no directory %s: make it, or name another place", path, filepath.Dir(path))
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("write %s: %w: name a place where you may write, or do it as a user who may", path, fs.ErrPermission)
	}
	return err
}

// writeInto writes to a device or a pipe. A rename would put a file in its place: for root, /dev/null would be gone.
func writeInto(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
