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
		return file.Write(path, data, 0o644)
	case err != nil:
		return err
	case info.Mode().IsRegular():
		target, err := filepath.EvalSymlinks(path)
		if err != nil {
			return err
		}
		return file.Write(target, data, info.Mode().Perm())
	}
	return writeInto(path, data)
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
