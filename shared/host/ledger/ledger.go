// Package ledger keeps the journal of the phase machine in a file: what it has taken outlasts a
// power cut, and the file is bounded.
package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
)

// File is the path of a journal. One program writes it, from one goroutine.
type File string

// Journal is that of a bootstrap machine.
const Journal File = layout.Journal

// mode is for the owner alone: nobody else needs the journal. It is no secret: events have the
// same causes, for all users. dirMode is the units' StateDirectoryMode.
const (
	mode    = 0o600
	dirMode = 0o700
)

// Read reads all entries; none if there is no file. A last line that a power cut has torn is no
// entry.
func (f File) Read() ([]ledger.Entry, error) {
	text, err := f.text()
	if err != nil {
		return nil, err
	}
	all, err := ledger.Decode(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f, err)
	}
	return all, nil
}

func (f File) text() ([]byte, error) {
	in, err := os.Open(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the journal of the phase machine: %w", err)
	}
	defer in.Close()
	const most = 4 * ledger.MaxFile
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	if err != nil {
		return nil, fmt.Errorf("read the journal of the phase machine: %w", err)
	}
	if len(text) > most {
		return nil, fmt.Errorf("%s has more than %d bytes, and none that is ours gets so long: "+
			"restore it", f, most)
	}
	return text, nil
}

// Append adds entries, and returns when they are on the disk. After an error, as on a full disk,
// it removes what it has written of them.
func (f File) Append(all ...ledger.Entry) error {
	if len(all) == 0 {
		return nil
	}
	var lines []byte
	for _, e := range all {
		lines = append(lines, ledger.Encode(e)...)
	}
	text, err := f.text()
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	if whole+len(lines) > ledger.MaxFile {
		return f.shorten(text[:whole], all)
	}
	if err := f.add(lines, int64(whole), text == nil); err != nil {
		return fmt.Errorf("write the journal of the phase machine: %w", err)
	}
	return nil
}

// add writes lines at the offset whole, the end of the last complete line, and syncs the file.
func (f File) add(lines []byte, whole int64, first bool) error {
	dir := filepath.Dir(string(f))
	if first {
		if err := os.MkdirAll(dir, dirMode); err != nil {
			return err
		}
	}
	out, err := os.OpenFile(string(f), os.O_WRONLY|os.O_CREATE, mode)
	if err != nil {
		return err
	}
	err = out.Truncate(whole)
	if err == nil {
		_, err = out.WriteAt(lines, whole)
	}
	if err == nil {
		err = out.Sync()
	}
	if err != nil {
		err = errors.Join(err, out.Truncate(whole))
	}
	if err = errors.Join(err, out.Close()); err == nil && first {
		err = syncDir(dir)
	}
	return err
}

// syncDir syncs a directory, so that the name of a new file in it survives a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// shorten adds entries, and replaces the journal by a shorter one with the same memory.
func (f File) shorten(text []byte, add []ledger.Entry) error {
	all, err := ledger.Decode(text)
	if err != nil {
		return fmt.Errorf("%s: %w", f, err)
	}
	var short []byte
	for _, e := range ledger.Shorten(append(all, add...)) {
		short = append(short, ledger.Encode(e)...)
	}
	if err := file.Write(string(f), short, mode); err != nil {
		return fmt.Errorf("shorten the journal of the phase machine: %w", err)
	}
	return syncDir(filepath.Dir(string(f)))
}
