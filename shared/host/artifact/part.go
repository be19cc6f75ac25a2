package artifact

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
)

// Full is the error of a disk that has no room for a file. No part of the file is left then.
type Full struct {
	Path string
	Need int64 // bytes that are still to come; 0 if that is not known
}

func (f Full) Error() string {
	need := ""
	if f.Need > 0 {
		need = fmt.Sprintf(" (%d MB are missing of it)", f.Need>>20)
	}
	return fmt.Sprintf("the disk of %s is full%s: make room there", filepath.Dir(f.Path), need)
}

func isFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG)
}

const (
	usualReserve = 64 << 20
	// between is how many bytes are written between two checks of the free space.
	between = 16 << 20
)

// part is a file that is being written, beside its place.
type part struct {
	file    *os.File // not embedded: io.Copy would write past Write
	store   *Store
	path    string // its place
	unasked int64  // bytes since the last check of the free space
}

// create opens the part of a file. A former one is kept if it is to be continued.
func (s *Store) create(path string, keep bool) (*part, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	flags := os.O_RDWR | os.O_CREATE | unix.O_NOFOLLOW | unix.O_NONBLOCK
	if !keep {
		flags |= os.O_TRUNC
	}
	f, err := os.OpenFile(partOf(path), flags, 0o644)
	if isFull(err) {
		return nil, Full{Path: path}
	}
	if err != nil {
		return nil, err
	}
	return &part{file: f, store: s, path: path}, nil
}

// reserve returns Full if more bytes would not leave the reserve of the file system free.
func (p *part) reserve(more int64) error {
	free, err := p.free()
	if err != nil {
		return err
	}
	keep := p.store.Reserve
	if keep == 0 {
		keep = usualReserve
	}
	if more = max(more, 0); free < keep || free-keep < uint64(more) {
		return Full{Path: p.path, Need: more}
	}
	return nil
}

func (p *part) free() (uint64, error) {
	if p.store.room != nil {
		return p.store.room(filepath.Dir(p.path))
	}
	free, _, err := file.Room(filepath.Dir(p.path))
	return free, err
}

// Write writes, and checks now and then that the reserve is still free: a full disk breaks other
// programs, not only this transfer.
func (p *part) Write(text []byte) (n int, err error) {
	if p.unasked += int64(len(text)); p.unasked >= between {
		p.unasked = 0
		if err := p.reserve(0); err != nil {
			return 0, err
		}
	}
	if n, err = p.file.Write(text); isFull(err) {
		return n, Full{Path: p.path}
	}
	return n, err
}

// end closes the part. If err is nil the part is whole, and is synchronised with the disk. After
// an error it is removed, unless keep is set, it has content, and the error is not a full disk.
func (p *part) end(err error, keep bool) error {
	if err == nil {
		if err = errors.Join(p.file.Chmod(0o644), p.file.Sync()); isFull(err) {
			err = Full{Path: p.path}
		}
	}
	if info, failed := p.file.Stat(); failed != nil || info.Size() == 0 {
		keep = false
	}
	if failed := p.file.Close(); err == nil {
		err = failed
	}
	if err != nil && (!keep || errors.As(err, new(Full))) {
		return errors.Join(err, file.Remove(p.file.Name()))
	}
	return err
}
