package file

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/test/need"
)

// small is a directory on a file system of its own that is soon full.
func small(t *testing.T) string {
	t.Helper()
	need.Root(t)
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k,nr_inodes=8"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestUpdate writes small files where there is no room for a second one, over what is there.
func TestUpdate(t *testing.T) {
	dir := small(t)
	path, empty := filepath.Join(dir, "a"), filepath.Join(dir, "empty")
	if changed, err := Update(path, []byte("-1\n"), 0o644); err != nil || !changed {
		t.Fatalf("with room: %t, %v", changed, err)
	}
	if err := os.WriteFile(empty, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	before, files, err := Room(dir)
	if err != nil || before < 32<<10 || files == 0 {
		t.Errorf("room for %d bytes and %d files, %v", before, files, err)
	}
	big, err := os.Create(filepath.Join(dir, "big"))
	if err != nil {
		t.Fatal(err)
	}
	defer big.Close()
	for err == nil {
		_, err = big.Write(make([]byte, 4096))
	}
	if bytes, _, err := Room(dir); err != nil || bytes != 0 {
		t.Errorf("room for %d bytes in a full file system, %v", bytes, err)
	}
	for _, text := range []string{"1\n", "-254\n", "0\n"} {
		changed, err := Update(path, []byte(text), 0o644)
		got, errRead := os.ReadFile(path)
		if err := errors.Join(err, errRead); err != nil || !changed || string(got) != text {
			t.Errorf("%q: %q, %t, %v", text, got, changed, err)
		}
	}
	for _, tt := range []struct {
		name, path string
		text       string
	}{{"more than the file has room for", path, string(make([]byte, 8192))},
		{"a file without room", empty, "1\n"}, {"no file", filepath.Join(dir, "b"), "1\n"}} {
		if changed, err := Update(tt.path, []byte(tt.text), 0o644); changed ||
			!errors.Is(err, unix.ENOSPC) {
			t.Errorf("%s: %t, %v", tt.name, changed, err)
		}
	}
	if err := Watchable(dir); err != nil {
		t.Error(err)
	}
	if err := Watchable(filepath.Join(dir, "absent")); err == nil {
		t.Error("what is not there can be watched")
	}
	if _, _, err := Room(filepath.Join(dir, "absent")); err == nil {
		t.Error("what is not there has room")
	}
}
