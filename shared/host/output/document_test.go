package output

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// ours takes any file for one of ours.
func ours([]byte) bool { return true }

func TestDocument(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(path("private"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("target", path("link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path("target"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, file string
		mode       fs.FileMode
	}{{"new", "new", 0o644}, {"private", "private", 0o600}, {"link", "target", 0o644}} {
		if _, err := (Place{Path: path(tt.name)}).Document([]byte("text"), ours); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path(tt.file))
		info, errStat := os.Lstat(path(tt.file))
		if err != nil || errStat != nil || string(got) != "text" || info.Mode() != tt.mode {
			t.Errorf("%s: got %q %v %v %v", tt.name, got, info.Mode(), err, errStat)
		}
	}
	if info, err := os.Lstat(path("link")); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("a link became %v, %v", info, err)
	}
	for _, name := range []string{"absent/file", "."} {
		if _, err := (Place{Path: path(name)}).Document([]byte("text"), ours); err == nil {
			t.Errorf("%s was written", name)
		}
	}
}

// TestDocument_Private holds that only the owner may read a file with secrets, also one that was
// open to others before, and that what the owner may do stays.
func TestDocument_Private(t *testing.T) {
	dir := t.TempDir()
	for name, tt := range map[string]struct{ before, after fs.FileMode }{
		"new": {0, 0o600}, "open": {0o644, 0o600}, "group": {0o660, 0o600}, "read-only": {0o444, 0o400},
	} {
		path := filepath.Join(dir, name)
		if tt.before != 0 {
			if err := os.WriteFile(path, []byte("old"), tt.before); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, tt.before); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := (Place{Path: path, Private: true}).Document([]byte("text"), ours); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != tt.after {
			t.Errorf("%s: %v, %v, want %v", name, info.Mode(), err, tt.after)
		}
	}
}

// A pipe, and so /dev/null or /dev/stdout, is written to and stays what it is.
func TestDocument_IntoAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if _, err := (Place{Path: pipe}).Document([]byte("text"), ours); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 8)
	n, err := reader.Read(buf)
	if info, errStat := os.Lstat(pipe); err != nil || errStat != nil || string(buf[:n]) != "text" ||
		info.Mode()&fs.ModeNamedPipe == 0 {
		t.Errorf("got %q, %v, %v, %v", buf[:n], err, info, errStat)
	}
}
