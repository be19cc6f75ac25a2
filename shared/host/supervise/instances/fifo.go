package instances

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// OpenFIFO makes the FIFO anew and holds both of its ends: keepalived writes without blocking and
// would lose its reports while there is no reader, and a reader would see an end of file whenever
// keepalived closes it. Where there is no room for a new one, that of an earlier run serves as
// well: what was written to it vanished with its readers.
func OpenFIFO(path string) (*os.File, error) {
	next := path + ".new"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("remove the old FIFO: %w", err)
	}
	err := unix.Mkfifo(next, 0o600)
	if err == nil {
		err = os.Rename(next, path)
	}
	if info, there := os.Lstat(path); err != nil &&
		(there != nil || info.Mode().Type() != fs.ModeNamedPipe) {
		return nil, fmt.Errorf("make FIFO %s: %w", path, err)
	}
	fifo, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("open FIFO: %w", err)
	}
	return fifo, nil
}

// ReadLines passes on the FIFO's lines until it is closed or ctx ends. A line longer than any that
// keepalived writes is dropped.
func ReadLines(ctx context.Context, fifo *os.File, lines chan<- string) error {
	reader := bufio.NewReaderSize(fifo, 4096)
	dropping := false
	for {
		line, more, err := reader.ReadLine()
		switch {
		case errors.Is(err, os.ErrClosed):
			return nil
		case err != nil:
			return fmt.Errorf("read FIFO: %w", err)
		}
		if whole := !more && !dropping; whole {
			select {
			case lines <- string(line):
			case <-ctx.Done():
				return nil
			}
		}
		dropping = more
	}
}
