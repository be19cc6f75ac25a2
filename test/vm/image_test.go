package vm

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/test/need"
)

// A program of another release, which is run here by that release's interpreter, runs in its image
// too. For another release stands a copy of this machine's interpreter and C library, with another
// directory of libraries written into the interpreter.
func TestLinked_OwnInterpreter(t *testing.T) {
	need.Root(t)
	const (
		here      = "/lib64/ld-linux-x86-64.so.2"
		libraries = "/lib/x86_64-linux-gnu/"
		cache     = "/etc/ld.so.cache"
	)
	need.File(t, here)
	dir, err := os.MkdirTemp("/tmp", "ld") // short: the new paths take the former ones' places
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	theirs := dir + "/" + strings.Repeat("l", len(libraries)-len(dir)-2) + "/"
	interpreter, program := dir+"/ld", dir+"/true"
	put(t, theirs+"libc.so.6", read(t, libraries+"libc.so.6"))
	code := bytes.ReplaceAll(read(t, here), []byte(libraries), []byte(theirs))
	put(t, interpreter, bytes.ReplaceAll(code, []byte(cache), []byte("/etc/none.cache\x00")))
	path := make([]byte, len(here))
	copy(path, interpreter)
	put(t, program, bytes.Replace(read(t, "/usr/bin/true"), []byte(here), path, 1))

	tree, err := Linked(t.Context(), program)
	if err != nil {
		t.Fatal(err)
	}
	tree["true"] = program
	root := t.TempDir()
	for path, source := range tree {
		put(t, filepath.Join(root, path), read(t, source))
	}
	if out, err := exec.Command("chroot", root, "/true").CombinedOutput(); err != nil {
		t.Errorf("in an image of %v: %v: %s", tree, err, out)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func put(t *testing.T, path string, code []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, code, 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestLinked_Static(t *testing.T) {
	if tree, err := Linked(t.Context(), need.Command(t, "catatonit")); err != nil || len(tree) > 0 {
		t.Errorf("a static program is linked with %v, %v", tree, err)
	}
	if _, err := Linked(t.Context(), "/dev/null"); err == nil {
		t.Error("an empty file is no program")
	}
}
