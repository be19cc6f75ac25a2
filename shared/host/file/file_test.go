package file

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.conf")
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	for _, tt := range []struct {
		text string
		mode fs.FileMode
	}{{"first", 0o644}, {"second, longer", 0o600}, {"", 0o755}} {
		if err := Write(path, []byte(tt.text), tt.mode); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != tt.text || info.Mode() != tt.mode {
			t.Errorf("got %q %v, want %q %v", got, info.Mode(), tt.text, tt.mode)
		}
	}
	only(t, dir, "a.conf")
}

func TestWriteKeepsTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.conf")
	if err := os.Mkdir(path, 0o755); err != nil { // a rename onto a directory is refused
		t.Fatal(err)
	}
	if err := Write(path, []byte("x"), 0o644); err == nil {
		t.Error("a directory was replaced by a file")
	}
	if err := Write(filepath.Join(dir, "absent", "a.conf"), []byte("x"), 0o644); err == nil {
		t.Error("a directory was created")
	}
	only(t, dir, "a.conf")
}

// only says that nothing else, such as a temporary file, is left in the directory.
func only(t *testing.T, dir, name string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 || entries[0].Name() != name {
		t.Errorf("the directory holds %v, want only %s", entries, name)
	}
}

func TestWriteIfChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.conf")
	steps := []struct {
		name string
		text string
		mode fs.FileMode
		want bool
	}{
		{"absent", "x", 0o644, true},
		{"the same", "x", 0o644, false},
		{"other bytes", "y", 0o644, true},
		{"other mode", "y", 0o600, true},
		{"the same again", "y", 0o600, false},
	}
	for _, tt := range steps {
		before := inode(path)
		got, err := WriteIfChanged(path, []byte(tt.text), tt.mode)
		if err != nil || got != tt.want {
			t.Errorf("%s: got %v %v, want %v", tt.name, got, err, tt.want)
		}
		if replaced := inode(path) != before; replaced != tt.want {
			t.Errorf("%s: replaced %v, want %v", tt.name, replaced, tt.want)
		}
	}
}

func inode(path string) uint64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Sys().(*syscall.Stat_t).Ino
}

func TestWatch(t *testing.T) {
	top := t.TempDir()
	here, later := filepath.Join(top, "here"), filepath.Join(top, "sub", "dir", "later")
	ctx, cancel := context.WithCancel(t.Context())
	wake, done := make(chan struct{}, 1), make(chan error, 1)
	go func() { done <- Watch(ctx, []string{here, later}, wake) }()

	steps := []struct {
		name string
		do   func() error
		want bool
	}{
		{"the beginning", func() error { return nil }, true},
		{"created", func() error { return os.WriteFile(here, []byte("1"), 0o644) }, true},
		{"written in place", func() error { return os.WriteFile(here, []byte("2"), 0o644) }, true},
		{"replaced", func() error { return Write(here, []byte("3"), 0o644) }, true},
		{"replaced again", func() error { return Write(here, []byte("4"), 0o644) }, true},
		{"a neighbour", func() error {
			return os.WriteFile(here+"bour", []byte("1"),
				0o644)
		}, false},
		{"removed", func() error { return os.Remove(here) }, true},
		{"a directory comes", func() error {
			return os.MkdirAll(filepath.Dir(later),
				0o755)
		}, true},
		{"and a file in it", func() error { return Write(later, []byte("1"), 0o644) }, true},
		{"the directory goes", func() error { return os.RemoveAll(filepath.Join(top, "sub")) },
			true},
		{"and comes whole", func() error {
			if err := os.MkdirAll(filepath.Dir(later), 0o755); err != nil {
				return err
			}
			return os.WriteFile(later, []byte("2"), 0o644)
		}, true},
		{"replaced there", func() error { return Write(later, []byte("3"), 0o644) }, true},
	}
	for _, tt := range steps {
		if err := tt.do(); err != nil {
			t.Fatal(err)
		}
		if got := woken(wake, tt.want); got != tt.want {
			t.Fatalf("%s: woken %v, want %v", tt.name, got, tt.want)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Watch: %v", err)
	}
}

// woken reports whether a wake-up came, and waits until no more come.
func woken(wake <-chan struct{}, expected bool) bool {
	got, wait := false, 200*time.Millisecond
	if expected {
		wait = 5 * time.Second
	}
	for ; ; wait = 50 * time.Millisecond {
		select {
		case <-wake:
			got = true
		case <-time.After(wait):
			return got
		}
		if !got {
			return false
		}
	}
}

// TestOverwrite writes over a file of that length, and over none, and has whoever watches the
// directory wake once a time.
func TestOverwrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "beat")
	for _, text := range []string{"01\n", "02\n"} {
		if err := Overwrite(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%q, %v; want %q", got, err, text)
		}
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Add(dir); err != nil {
		t.Fatal(err)
	}
	if err := Overwrite(path, []byte("03\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	var events []fsnotify.Op
	for e := range w.Events {
		if events = append(events, e.Op); e.Has(fsnotify.Remove) {
			break
		}
	}
	if len(events) != 2 {
		t.Errorf("a beat and the end of the file are %v", events)
	}
	if err := Overwrite(filepath.Join(dir, "not there", "beat"), nil, 0o644); err == nil {
		t.Error("a directory that is not there can be written to")
	}
}

// TestWrite_AlikeErrors holds that one failure reads the same each time, so that it can be reported
// once.
func TestWrite_AlikeErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing", "file")
	first, second := Write(path, nil, 0o644), Write(path, nil, 0o644)
	if first == nil || second == nil || first.Error() != second.Error() ||
		!errors.Is(first, fs.ErrNotExist) {
		t.Errorf("%v, then %v", first, second)
	}
}

func TestReadGiven(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int64]string{4: "0123", 9: "012345678", 10: "0123456789", 99: "0123456789"} {
		text, err := ReadGiven(path, limit)
		if string(text) != want || errors.Is(err, ErrLong) != (limit < 10) || err != nil && !strings.HasPrefix(err.Error(), path+": the file is too long") {
			t.Errorf("%d bytes: %q, %v", limit, text, err)
		}
	}
	if text, err := ReadGiven("/dev/zero", 100); !errors.Is(err, ErrLong) || len(text) != 100 {
		t.Errorf("a device without an end: %d bytes, %v", len(text), err)
	}
	for _, none := range []string{path + "x", filepath.Dir(path)} {
		if _, err := ReadGiven(none, 9); err == nil || !strings.Contains(err.Error(), "name a file that can be read") || !strings.Contains(err.Error(), none) {
			t.Errorf("%s: %v", none, err)
		}
	}
	if _, err := ReadGiven(path+"x", 9); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
