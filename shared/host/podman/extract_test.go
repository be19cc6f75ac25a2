//go:build remote

package podman

import (
	"archive/tar"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/container"
)

// TestExtract copies files out of a real image, whose program never runs, and leaves no container.
func TestExtract(t *testing.T) {
	s, e := engine(t)
	for name, text := range map[string]string{"Containerfile": "FROM " + image + "\nCOPY tree /\n", "tree/usr/lib/ipxe/snponly.efi": "x64", "tree/usr/lib/real.kpxe": "bios", "tree/dir/file": "of a directory"} {
		at := filepath.Join(s.dir, "of", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"tftpboot/undionly.kpxe": "../usr/lib/link", "usr/lib/link": "/usr/lib/real.kpxe", "loop": "loop", "out": "../../../../../../../etc/hostname-of-the-host"} {
		at := filepath.Join(s.dir, "of/tree", name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, at); err != nil {
			t.Fatal(err)
		}
	}
	const made = "localhost/extract:test"
	s.run(nil, "build", "--quiet", "--isolation", "chroot", "--tag", made, s.dir+"/of")
	for range 2 { // the second meets what a killed call left
		dir := t.TempDir()
		found, err := e.Extract(t.Context(), made, []container.Wanted{
			{Name: "undionly.kpxe", From: []string{"/nowhere", "/tftpboot/undionly.kpxe", "/usr/lib/real.kpxe"}},
			{Name: "arm64-efi/snponly.efi", From: []string{"/usr/lib/ipxe/snponly.efi"}},
			{Name: "absent", From: []string{"/nowhere", "/out"}},
		}, dir)
		if err != nil {
			t.Fatal(err)
		}
		if names := slices.Sorted(maps.Keys(found)); !slices.Equal(names, []string{"arm64-efi/snponly.efi", "undionly.kpxe"}) {
			t.Errorf("found %v", found)
		}
		for name, want := range map[string]string{"undionly.kpxe": "bios", "arm64-efi/snponly.efi": "x64"} {
			text, err := os.ReadFile(found[name])
			if err != nil || string(text) != want || filepath.Dir(found[name]) != dir {
				t.Errorf("%s is %q at %s, %v", name, text, found[name], err)
			}
		}
		if left := s.run(nil, "ps", "--all", "--quiet"); left != "" {
			t.Errorf("a container is left: %q", left)
		}
		if err := e.create(t.Context(), nameOfExtract(made), made); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := e.Extract(t.Context(), made, []container.Wanted{{Name: "dir", From: []string{"/dir"}}}, t.TempDir()); err == nil || !strings.Contains(err.Error(), "copy dir out of image "+made) {
		t.Errorf("a directory: %v", err)
	}
	if _, err := e.Extract(t.Context(), "localhost/absent:1", nil, t.TempDir()); err == nil || !strings.Contains(err.Error(), "localhost/absent:1") {
		t.Errorf("an image that is not there: %v", err)
	}
	if left := s.run(nil, "ps", "--all", "--quiet"); left != "" {
		t.Errorf("a container is left: %q", left)
	}
}

// TestExtract_Service has a FAKE service that answers as podman does: each candidate is asked for,
// links are followed by name, and the container is removed whatever happens.
func TestExtract_Service(t *testing.T) {
	var asked []string
	removed, broken := 0, ""
	e, _ := engineOf(t, func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.Query().Get("path")
		switch {
		case r.Method == http.MethodPost:
			fmt.Fprint(w, `{"Id":"1"}`)
			return
		case r.Method == http.MethodDelete:
			removed++
			fmt.Fprint(w, "[]")
			return
		case strings.HasSuffix(r.URL.Path, "/json"):
			fmt.Fprintf(w, `{"Id":"1","Config":{"Labels":{%q:"x"}}}`, label)
			return
		case !strings.HasSuffix(r.URL.Path, "/archive"):
			t.Errorf("%s %s", r.Method, r.URL)
		}
		asked = append(asked, path)
		head := tar.Header{Name: filepath.Base(path), Typeflag: tar.TypeReg, Size: 4}
		switch path {
		case "/a/link":
			head.Typeflag, head.Size, head.Linkname = tar.TypeSymlink, 0, "../b/link"
		case "/b/link":
			head.Typeflag, head.Size, head.Linkname = tar.TypeSymlink, 0, "/b/file"
		case "/loop":
			head.Typeflag, head.Size, head.Linkname = tar.TypeSymlink, 0, "loop"
		case broken:
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, `{"response":500,"message":"the storage is broken"}`)
			return
		case "/b/file":
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"response":404,"message":"no such path"}`)
			return
		}
		out := tar.NewWriter(w)
		_ = out.WriteHeader(&head)
		_, _ = out.Write([]byte("iPXE")[:head.Size])
		_ = out.Close()
	})
	dir := t.TempDir()
	wanted := []container.Wanted{{Name: "x", From: []string{"/none", "/loop", "/a/link"}}, {Name: "../y", From: []string{"/none"}}}
	found, err := e.Extract(t.Context(), "r/i:1", wanted, dir)
	if err != nil || len(found) != 1 || filepath.Dir(found["x"]) != dir {
		t.Fatalf("%v, %v", found, err)
	}
	if text, err := os.ReadFile(found["x"]); err != nil || string(text) != "iPXE" {
		t.Errorf("%q, %v", text, err)
	}
	if got := strings.Join(slices.Compact(asked), " "); got != "/none /loop /a/link /b/link /b/file /none" || removed != 2 {
		t.Errorf("asked for %s, removed %d containers", got, removed)
	}
	broken = "/none"
	if _, err := e.Extract(t.Context(), "r/i:1", wanted, dir); err == nil || !strings.Contains(err.Error(), "copy x out of image r/i:1: /none: ") || !strings.Contains(err.Error(), "storage is broken") || removed != 4 {
		t.Errorf("%v, removed %d", err, removed)
	}
}
