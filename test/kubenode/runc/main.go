// Command runc is runc for a machine whose control groups have no controllers: it takes the limits
// out of a container's bundle, which nothing could hold there, and goes on as the real one.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

const real = "/usr/sbin/runc"

func main() {
	if err := run(os.Args); err != nil {
		fmt.Fprintln(os.Stderr, "runc without limits:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	for i, arg := range args {
		if arg == "--bundle" && i+1 < len(args) {
			if err := unlimit(filepath.Join(args[i+1], "config.json")); err != nil {
				return err
			}
		}
	}
	return syscall.Exec(real, append([]string{real}, args[1:]...), os.Environ())
}

// unlimit keeps everything else of the bundle as it is.
func unlimit(path string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // runc says so better
	}
	if err != nil {
		return err
	}
	var spec, linux map[string]json.RawMessage
	if err := json.Unmarshal(text, &spec); err != nil {
		return err
	}
	if err := json.Unmarshal(spec["linux"], &linux); err != nil {
		return err
	}
	delete(linux, "resources")
	if spec["linux"], err = json.Marshal(linux); err != nil {
		return err
	}
	if text, err = json.Marshal(spec); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}
