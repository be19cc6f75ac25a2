// Package tail reads the lines that another program appends to its log file, each once over
// restarts of the reader too, and keeps the file small.
package tail

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
)

// maxRead bounds what one call reads, in bytes. A longer line is left out.
const maxRead = 1 << 18

// Log is the file. Its methods are for one goroutine.
type Log struct {
	// Path is the file, Path.1 what it was before it was replaced, and Path.read how far it has
	// been read.
	Path string
	// Limit is the size from which the file is replaced, in bytes.
	Limit int64
	// Reopen has the other program open its file again: it gets a new one. It is called until there
	// is one.
	Reopen func() error

	open     *os.File
	id       uint64 // of the open file
	offset   int64
	replaced bool // the open file has its former name
	long     bool // offset is within a line that is left out
}

func (l *Log) former() string   { return l.Path + ".1" }
func (l *Log) position() string { return l.Path + ".read" }

// Lines are the whole lines since the last call, without their ends. There are none while there is
// no file.
func (l *Log) Lines() ([]string, error) {
	lines, err := l.lines()
	if err != nil {
		return lines, fmt.Errorf("read %s: %w", l.Path, err)
	}
	return lines, nil
}

func (l *Log) lines() (lines []string, err error) {
	if l.open == nil {
		if err := l.resume(); err != nil || l.open == nil {
			return nil, err
		}
	}
	lines, end, err := l.read()
	if err != nil {
		return nil, err
	}
	if end {
		err = l.next()
	}
	if len(lines) > 0 {
		err = errors.Join(err, l.save())
	}
	return lines, err
}

// read returns the further whole lines of the open file, and whether that was all of it.
func (l *Log) read() (lines []string, end bool, err error) {
	info, err := l.open.Stat()
	if err != nil {
		return nil, false, err
	}
	if info.Size() < l.offset {
		l.offset, l.long = 0, false // it was cut off
	}
	buffer := make([]byte, min(maxRead, info.Size()-l.offset))
	n, err := l.open.ReadAt(buffer, l.offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	text := buffer[:n]
	last := bytes.LastIndexByte(text, '\n')
	if last < 0 {
		if n == maxRead {
			l.offset += int64(n)
			l.long = true
		}
		return nil, n < maxRead, nil
	}
	l.offset += int64(last) + 1
	text = text[:last+1]
	if l.long {
		l.long, text = false, text[bytes.IndexByte(text, '\n')+1:]
	}
	for line := range bytes.Lines(text) {
		lines = append(lines, string(bytes.TrimRight(line, "\r\n")))
	}
	return lines, n < maxRead, nil
}

// next goes on to the file that has replaced the open one, or replaces that if it is large. The
// other program closes a file before it makes another one, so all of the former has been read.
func (l *Log) next() error {
	info, err := os.Stat(l.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// The other program is about to make it, or does not know that it must: this program may
		// have ended right after it gave the file its former name.
		return l.Reopen()
	case err != nil:
		return err
	case inode(info) != l.id:
		// The other program may have written between the last read and its change of files.
		if size, err := l.open.Stat(); err != nil || size.Size() > l.offset && !l.replaced {
			l.replaced = true
			return err
		}
		l.close()
		return l.openAt(l.Path, 0)
	case info.Size() < l.Limit:
		return nil
	}
	if err := os.Rename(l.Path, l.former()); err != nil {
		return err
	}
	return l.Reopen()
}

// resume opens the file at the position up to which the last run of this program has read it.
func (l *Log) resume() error {
	text, err := file.Read(l.position())
	if err != nil {
		return err
	}
	var id uint64
	var offset int64
	if n, _ := fmt.Sscanf(string(text), "%d %d", &id, &offset); n == 2 && offset >= 0 {
		for _, path := range []string{l.former(), l.Path} {
			info, err := os.Stat(path)
			if err == nil && inode(info) == id && info.Size() >= offset {
				return l.openAt(path, offset)
			}
		}
	}
	return l.openAt(l.Path, 0)
}

func (l *Log) openAt(path string, offset int64) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	l.open, l.id, l.offset, l.replaced, l.long = f, inode(info), offset, false, false
	return nil
}

func (l *Log) save() error {
	return file.Write(l.position(), fmt.Appendf(nil, "%d %d\n", l.id, l.offset), 0o644)
}

func (l *Log) close() {
	_ = l.open.Close() // it was only read
	l.open = nil
}

// Close ends the reading. Another Log goes on from there.
func (l *Log) Close() {
	if l.open != nil {
		l.close()
	}
}

func inode(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ino
	}
	return 0
}
