package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// writeDocument writes a verb's document to the file that -o names, whole or not at all; without a name to standard output.
func writeDocument(std streams, path string, data []byte) error {
	if path == "" || path == "-" {
		_, err := std.out.Write(data)
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	if _, err := temp.Write(data); err != nil {
		return err
	}
	if err := temp.Close(); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
