// Package events keeps the files of what happened to the hosts that are provisioned, each of
// bounded size.
package events

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
)

// Log is the file of one source. Only one program writes it, from one goroutine.
type Log struct {
	Path, Former string
}

// Of is the log of a source.
func Of(s events.Source) Log { return Log{Path: events.Path(s), Former: events.Former(s)} }

// Append adds events. A full file becomes the former one first. The directory is made if there is
// none: it is empty after a boot.
func (l Log) Append(all ...events.Event) error {
	if len(all) == 0 {
		return nil
	}
	var lines []byte
	for _, e := range all {
		lines = append(lines, events.Encode(e)...)
	}
	if err := l.append(lines); err != nil {
		return fmt.Errorf("write what happened to the hosts: %w", err)
	}
	return nil
}

func (l Log) append(lines []byte) error {
	if err := os.MkdirAll(filepath.Dir(l.Path), 0o755); err != nil {
		return err
	}
	if info, err := os.Stat(l.Path); err == nil && info.Size()+int64(len(lines)) > events.MaxFile {
		if err := os.Rename(l.Path, l.Former); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(l.Path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	whole, err := f.Seek(0, io.SeekEnd)
	if err == nil {
		if _, err = f.Write(lines); err != nil {
			err = errors.Join(err, f.Truncate(whole)) // a torn line would spoil the next one
		}
	}
	return errors.Join(err, f.Close())
}

// Read is what the log has, the oldest first. A missing file is no error, and has nothing. broken
// counts lines that cannot be read.
func (l Log) Read() (all []events.Event, broken int, err error) {
	for _, path := range []string{l.Former, l.Path} {
		f, err := os.Open(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, 0, fmt.Errorf("read what happened to the hosts: %w", err)
		}
		text, err := io.ReadAll(io.LimitReader(f, events.MaxFile))
		_ = f.Close() // it was only read
		if err != nil {
			return nil, 0, fmt.Errorf("read what happened to the hosts: %w", err)
		}
		some, bad := events.Decode(text)
		all, broken = append(all, some...), broken+bad
	}
	return all, broken, nil
}
