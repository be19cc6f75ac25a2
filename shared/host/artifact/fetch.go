package artifact

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/artifact"
)

// Progress is given how many bytes have arrived, and of how many; 0 if that is not known. It is
// called from the goroutine of Fetch.
type Progress func(done, total int64)

// WrongDigest is the error of a file that is not the one that was asked for.
type WrongDigest struct {
	URL, Got, Want string
}

func (w WrongDigest) Error() string {
	return fmt.Sprintf("%s has the SHA-256 %s, want %s: fix the file there, or the digest",
		w.URL, w.Got, w.Want)
}

// Fetch fetches a file to its place. It resumes after a broken connection, and from what an
// earlier call has fetched of a file that is not compressed. A former file stays in its place
// until the new one is whole and has the right digest.
func (s *Store) Fetch(ctx context.Context, item string, a artifact.Artifact, path string,
	report Progress) ([]File, error) {
	f, err := s.present(a, path)
	if err != nil {
		f, err = s.fetch(ctx, a, path, report)
	}
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", a.Shown(), err)
	}
	files := []File{f}
	if err := s.commit(item, Source(a), files); err != nil {
		return nil, fmt.Errorf("put %s in its place: %w", path, err)
	}
	return files, nil
}

// Source is what Check compares for a file that was fetched: its digest, so that the same file
// from another URL is no change.
func Source(a artifact.Artifact) string { return "sha256:" + a.SHA256 }

// present makes a file its own part if it is in its place already, without a record: the disk may
// have no room for it twice. What a link leads to is copied.
func (s *Store) present(a artifact.Artifact, path string) (File, error) {
	sum, size, err := digest(path)
	if err != nil || a.Compressed() || sum != a.SHA256 {
		return File{}, errors.Join(ErrAbsent, err)
	}
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return s.copy(Staged{From: path, To: path})
	}
	if err := os.Rename(path, partOf(path)); err != nil {
		return File{}, err
	}
	w, err := s.create(path, true)
	if err != nil {
		return File{}, err
	}
	return File{path, sum, size}, w.end(nil, true)
}

func (s *Store) fetch(ctx context.Context, a artifact.Artifact, path string, report Progress) (
	File, error) {
	f, continued, err := s.attempt(ctx, a, path, report)
	if continued && errors.As(err, new(WrongDigest)) {
		// what an earlier call had left was not the beginning of this file
		f, _, err = s.attempt(ctx, a, path, report)
	}
	return f, err
}

// attempt fetches a file into its part; continued means that a part of it was there.
func (s *Store) attempt(ctx context.Context, a artifact.Artifact, path string, report Progress) (
	f File, continued bool, err error) {
	w, err := s.create(path, !a.Compressed())
	if err != nil {
		return File{}, false, err
	}
	sum := sha256.New()
	have, err := io.Copy(sum, w.file) // to its end, where more of it is written
	if err == nil {
		var size int64
		if size, err = s.transfer(ctx, a, w, transferred{have, sum, report}); err == nil {
			f = File{path, a.SHA256, size}
			if a.Compressed() {
				f.SHA256, _, err = digest(partOf(path))
			}
		}
	}
	wrong := errors.As(err, new(WrongDigest))
	return f, have > 0, w.end(err, !a.Compressed() && !wrong)
}

// transferred is what has arrived of a file.
type transferred struct {
	have   int64
	sum    hash.Hash
	report Progress
}

// transfer writes what is missing of a file, and returns the size of all of it as it is written.
func (s *Store) transfer(ctx context.Context, a artifact.Artifact, w *part, t transferred) (
	size int64, err error) {
	source := s.open(ctx, a, t.have)
	defer source.Close()
	total, err := source.Total()
	if err != nil {
		return 0, err
	}
	if err := w.reserve(total - t.have); err != nil {
		return 0, err
	}
	arrived := &arriving{from: source, transferred: t, total: total}
	if a.Compressed() {
		size, err = unpack(w, arrived)
	} else {
		size, err = io.Copy(w, arrived)
		size += t.have
	}
	if err != nil {
		return 0, err
	}
	if got := hex.EncodeToString(t.sum.Sum(nil)); got != a.SHA256 {
		return 0, WrongDigest{URL: a.Shown(), Got: got, Want: a.SHA256}
	}
	return size, nil
}

// unpack writes what is compressed, and reads to the end, for the digest.
func unpack(w io.Writer, from io.Reader) (size int64, err error) {
	z, err := gzip.NewReader(from)
	if err == nil {
		size, err = io.Copy(w, z)
	}
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) {
		return 0, errors.New("it is not compressed by gzip, or broken: fix the file there")
	}
	if err == nil {
		_, err = io.Copy(io.Discard, from)
	}
	return size, err
}

// arriving counts and sums what arrives.
type arriving struct {
	from io.Reader
	transferred
	total int64
}

func (r *arriving) Read(into []byte) (n int, err error) {
	n, err = r.from.Read(into)
	r.sum.Write(into[:n])
	if r.have += int64(n); r.report != nil {
		r.report(r.have, r.total)
	}
	return n, err
}
