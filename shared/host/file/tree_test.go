package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestTree holds that a link in a tree leads out of it only where the tree is this host's, and that
// what is no directory is none.
func TestTree(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	for path, text := range map[string]string{filepath.Join(dir, "a"): "a", outside: "b"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		root, name, want string
		err              bool
	}{
		{root: dir, name: "a", want: "a"},
		{root: dir, name: "out", err: true},
		{root: "/", name: outside[1:], want: "b"},
		{root: "/", name: filepath.Join(dir, "out")[1:], want: "b"},
	} {
		files, done, err := Tree(tt.root)
		if err != nil {
			t.Fatal(err)
		}
		text, err := fs.ReadFile(files, tt.name)
		if string(text) != tt.want || (err != nil) != tt.err {
			t.Errorf("%s in %s: %q, %v", tt.name, tt.root, text, err)
		}
		done()
	}
	for path, want := range map[string]bool{
		filepath.Join(dir, "a"): true, filepath.Join(dir, "out"): true, dir: false,
		filepath.Join(dir, "none"): false,
	} {
		if Regular(path) != want {
			t.Errorf("%s is a regular file: %t", path, !want)
		}
	}
	for _, none := range []string{filepath.Join(dir, "none"), filepath.Join(dir, "a")} {
		if _, _, err := Tree(none); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", none, err)
		}
	}
}
