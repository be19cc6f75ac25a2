package instances

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
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

// Event is a line of keepalived's notify FIFO about an instance. State is empty when the line
// reports a priority alone: the state that it names is then an old one, and wrong in a reload, as
// keepalived computes the priority before it gives the instance its state back.
type Event struct {
	Instance string
	State    supervised.State
	Priority int
}

// ParseNotify reads a line such as `INSTANCE "demo_API_0" MASTER 70`. ok is false for a line about
// something else, such as a sync group. A name may hold any character, quotes too, so it ends at
// the last quote.
func ParseNotify(line string) (e Event, ok bool, err error) {
	kind, rest, _ := strings.Cut(line, " ")
	if kind != "INSTANCE" {
		if kind == "GROUP" {
			return Event{}, false, nil
		}
		return Event{}, false, fmt.Errorf("read notification %q: unknown kind", line)
	}
	end := strings.LastIndexByte(rest, '"')
	if end < 1 || rest[0] != '"' {
		return Event{}, false, fmt.Errorf("read notification %q: no name in quotes", line)
	}
	fields := strings.Fields(rest[end+1:])
	if len(fields) != 2 {
		return Event{}, false, fmt.Errorf(
			"read notification %q: not a state and a priority after the name", line)
	}
	e = Event{Instance: rest[1:end]}
	if e.State, ok = states[fields[0]]; !ok {
		return Event{}, false, fmt.Errorf("read notification %q: unknown state", line)
	}
	if e.Priority, err = strconv.Atoi(fields[1]); err != nil || e.Priority < 0 || e.Priority > 255 {
		return Event{}, false, fmt.Errorf("read notification %q: the priority is not 0 to 255",
			line)
	}
	return e, true, nil
}

// states are keepalived's names of a state, or of an event in it.
var states = map[string]supervised.State{
	"MASTER":              supervised.Master,
	"MASTER_RX_LOWER_PRI": supervised.Master,
	"MASTER_PRIORITY":     "",
	"BACKUP":              supervised.Backup,
	"BACKUP_PRIORITY":     "",
	"FAULT":               supervised.Fault,
	"STOP":                supervised.Init,
}
