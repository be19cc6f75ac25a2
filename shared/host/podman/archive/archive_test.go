package archive

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func pack(t testing.TB, entries ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		e.Mode = 0o4777
		if e.Typeflag == tar.TypeReg {
			e.Size = 4
		}
		if err := w.WriteHeader(&e); err != nil {
			t.Fatal(err)
		}
		if e.Typeflag == tar.TypeReg {
			_, _ = w.Write([]byte("iPXE"))
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func reg(name string) tar.Header { return tar.Header{Name: name, Typeflag: tar.TypeReg} }

func TestSave(t *testing.T) {
	good := pack(t, reg("snponly.efi"))
	for _, tt := range []struct {
		name, link, err string
		archive         []byte
	}{
		{name: "a file", archive: good},
		{name: "a link", archive: pack(t, tar.Header{Name: "a", Typeflag: tar.TypeSymlink, Linkname: "../lib/a"}), link: "../lib/a"},
		{name: "nothing", archive: pack(t), err: ErrAbsent.Error()},
		{name: "no bytes", err: ErrAbsent.Error()},
		{name: "absolute", archive: pack(t, reg("/etc/passwd")), err: `"/etc/passwd"`},
		{name: "up", archive: pack(t, reg("../x")), err: `"../x"`},
		{name: "down and up", archive: pack(t, reg("a/../../x")), err: "no name of a file"},
		{name: "a directory", archive: pack(t, tar.Header{Name: "a/", Typeflag: tar.TypeDir}, reg("a/x")), err: "no file"},
		{name: "a device", archive: pack(t, tar.Header{Name: "a", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 5}), err: "no file"},
		{name: "a hard link", archive: pack(t, tar.Header{Name: "a", Typeflag: tar.TypeLink, Linkname: "/etc/shadow"}), err: "no file"},
		{name: "two files", archive: pack(t, reg("a"), reg("b")), err: "more than one file"},
		{name: "cut off", archive: good[:514], err: "unexpected EOF"},
		{name: "no archive", archive: []byte(strings.Repeat("x", 1024)), err: "invalid tar header"},
		{name: "no content", archive: good[:512], err: "unexpected EOF"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			to := filepath.Join(dir, "to")
			link, err := Save(bytes.NewReader(tt.archive), to)
			if link != tt.link || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("link %q, %v, want %q, %q", link, err, tt.link, tt.err)
			}
			text, failed := os.ReadFile(to)
			if written := failed == nil; written != (tt.err == "" && tt.link == "") || written && string(text) != "iPXE" {
				t.Errorf("written is %q (%v)", text, failed)
			}
			if info, err := os.Lstat(to); err == nil && info.Mode() != 0o600 {
				t.Errorf("it has the mode %v of the archive", info.Mode())
			}
		})
	}
	huge := pack(t, reg("a"))
	h := tar.Header{Name: "a", Typeflag: tar.TypeReg, Size: maxFile + 1, Format: tar.FormatGNU}
	var out bytes.Buffer
	if err := tar.NewWriter(&out).WriteHeader(&h); err != nil {
		t.Fatal(err)
	}
	if _, err := Save(&out, filepath.Join(t.TempDir(), "to")); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("%d bytes: %v", len(huge), err)
	}
	if err := os.Symlink("/etc/hostname", filepath.Join(t.TempDir(), "x")); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "to")
	if err := os.Symlink(filepath.Join(t.TempDir(), "victim"), to); err != nil {
		t.Fatal(err)
	}
	if _, err := Save(bytes.NewReader(good), to); err == nil {
		t.Error("it was written through a link")
	}
}

// FuzzSave holds that an archive writes one file, at the place that was asked for, or nothing.
func FuzzSave(f *testing.F) {
	f.Add(pack(f, reg("a")))
	f.Add(pack(f, reg("../a"), reg("b")))
	f.Add(pack(f, tar.Header{Name: "a", Typeflag: tar.TypeSymlink, Linkname: "/etc/shadow"}))
	f.Add(pack(f, tar.Header{Name: "a/", Typeflag: tar.TypeDir}, reg("a/b")))
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		link, err := Save(bytes.NewReader(text), filepath.Join(dir, "x", "to"))
		if link == "" && err == nil {
			t.Fatal("a directory was created")
		}
		link, err = Save(bytes.NewReader(text), filepath.Join(dir, "to"))
		info, failed := os.Lstat(filepath.Join(dir, "to"))
		if written := failed == nil; written != (err == nil && link == "") || written && !info.Mode().IsRegular() {
			t.Errorf("link %q, error %v, file %v, %v", link, err, info, failed)
		}
		entries, err := os.ReadDir(dir)
		if errors.Join(err) != nil || len(entries) > 1 {
			t.Errorf("it wrote %v, %v", entries, err)
		}
	})
}
