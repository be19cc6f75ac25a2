package file

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/test/need"
)

// TestWriteLabelled holds: mode and label are those of the former file, or of one
// that is like it, and what a killed write left is removed.
func TestWriteLabelled(t *testing.T) {
	dir := t.TempDir()
	path, like := filepath.Join(dir, "resolv.conf"), filepath.Join(dir, "hosts")
	put := func(path, text, context string) {
		t.Helper()
		_ = os.Remove(path) // it may be a link, or absent
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if context == "" {
			return
		}
		if err := unix.Setxattr(path, label, []byte(context), 0); errors.Is(err, unix.EPERM) ||
			errors.Is(err, unix.ENOTSUP) {
			need.Missing(t, "needs to label files: "+err.Error())
		} else if err != nil {
			t.Fatal(err)
		}
	}
	check := func(what, want string) {
		t.Helper()
		changed, err := WriteLabelled(path, []byte(what), 0o644, filepath.Join(dir, "absent"), like)
		got, _ := labelOf(path)
		info, stat := os.Lstat(path)
		if err != nil || stat != nil || !changed || string(got) != want || info.Mode() != 0o644 {
			t.Errorf("%s: changed %v, label %q, want %q, %v, %v", what, changed, got, want,
				info.Mode(), errors.Join(err, stat))
		}
		if changed, err := WriteLabelled(path, []byte(what), 0o644, like); changed || err != nil {
			t.Errorf("%s: again: %v, %v", what, changed, err)
		}
	}
	put(path, "old", "system_u:object_r:net_conf_t:s0")
	put(like, "like", "system_u:object_r:etc_t:s0")
	check("the former one's", "system_u:object_r:net_conf_t:s0")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	check("there was none", "system_u:object_r:etc_t:s0")
	if err := errors.Join(os.Remove(path), os.Symlink(filepath.Join(dir, "elsewhere"),
		path)); err != nil {
		t.Fatal(err)
	}
	check("a link", "system_u:object_r:etc_t:s0")

	left := filepath.Join(dir, ".resolv.conf12345")
	put(left, "half a fi", "")
	check("after a killed write", "system_u:object_r:etc_t:s0")
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("left: %v, %v", entries, err)
	}
}
