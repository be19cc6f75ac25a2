// Package archive takes one file out of an archive that a container engine sends, and trusts
// nothing else in it.
package archive

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// maxFile is the size of the largest file that is copied out of an image, in bytes. A ramdisk has a
// tenth of it.
const maxFile = 8 << 30

// ErrAbsent means that the archive has no file.
var ErrAbsent = errors.New("there is no such file in the image")

// Save writes the one file of an archive to a path, whatever name the archive has for it. Of a
// symbolic link it returns where that leads, and writes nothing. An archive with anything else is
// refused, and nothing is left of it.
func Save(archive io.Reader, to string) (link string, err error) {
	entries := tar.NewReader(archive)
	head, err := entries.Next()
	switch {
	case errors.Is(err, io.EOF):
		return "", ErrAbsent
	case err != nil:
		return "", fmt.Errorf("read what podman copies: %w", err)
	case !filepath.IsLocal(head.Name):
		return "", fmt.Errorf("podman copies %q, which is no name of a file", head.Name)
	case head.Typeflag == tar.TypeSymlink && head.Linkname != "":
		return head.Linkname, nil
	case head.Typeflag != tar.TypeReg:
		return "", fmt.Errorf("%q is no file: choose another image", head.Name)
	case head.Size > maxFile:
		return "", fmt.Errorf("%q has %d bytes, %d at most", head.Name, head.Size, int64(maxFile))
	}
	if err := write(entries, to); err != nil {
		return "", err
	}
	if _, err := entries.Next(); !errors.Is(err, io.EOF) {
		return "", errors.Join(errors.New("podman copies more than one file, or is cut off"),
			os.Remove(to))
	}
	return "", nil
}

func write(from io.Reader, to string) error {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	return nil
}
