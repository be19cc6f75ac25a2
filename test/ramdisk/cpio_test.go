package ramdisk

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// entries reads an archive as the kernel does: "mode path content" of each.
func entries(t *testing.T, a []byte) (all []string) {
	t.Helper()
	for at := 0; ; {
		if len(a) < at+110 || string(a[at:at+6]) != "070701" || at%4 != 0 {
			t.Fatalf("no header at %d of %d", at, len(a))
		}
		field := func(n int) int {
			v, err := strconv.ParseInt(string(a[at+6+8*n:at+14+8*n]), 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			return int(v)
		}
		name := string(a[at+110 : at+110+field(11)-1])
		body := (at + 110 + field(11) + 3) &^ 3
		if name == "TRAILER!!!" {
			if body != len(a) {
				t.Errorf("%d bytes behind the end", len(a)-body)
			}
			return all
		}
		all = append(all, fmt.Sprintf("%o %s %q", field(1), name, a[body:body+field(6)]))
		at = (body + field(6) + 3) &^ 3
	}
}

func TestArchive(t *testing.T) {
	got := entries(t, Archive(map[string][]byte{"etc/b/two": []byte("12345"), "etc/a": []byte("1"), "top": nil}))
	want := []string{`40755 etc ""`, `100644 etc/a "1"`, `40755 etc/b ""`, `100644 etc/b/two "12345"`, `100644 top ""`}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the archive has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestArchiveTree(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "bin/busybox"), []byte("program"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("busybox", filepath.Join(dir, "bin/sh")); err != nil {
		t.Fatal(err)
	}
	a, err := archiveTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	got, want := entries(t, a), []string{`40755 bin ""`, `100755 bin/busybox "program"`, `120777 bin/sh "busybox"`}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the archive has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
