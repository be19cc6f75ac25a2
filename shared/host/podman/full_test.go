//go:build remote

package podman

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/test/need"
)

// tmpfs is a scratch directory whose storage has no more than size.
func tmpfs(t *testing.T, size string) string {
	t.Helper()
	need.Root(t)
	dir := scratch(t)
	root := filepath.Join(dir, "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", root, "tmpfs", 0, "mode=0755,size="+size); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(root, unix.MNT_DETACH); err != nil {
			t.Errorf("clean up: %v", err)
		}
	})
	return dir
}

// fill takes all the room that is left under dir, with a file that gives it back when it is
// removed.
func fill(t *testing.T, dir string) (path string) {
	t.Helper()
	path = filepath.Join(dir, "fill")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 4096); err == nil; {
		_, err = f.Write(block)
	}
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	return path
}

// If its storage is full podman starts nothing: that is an error, nothing incomplete is left, and
// running containers are not disturbed.
func TestStorageFull(t *testing.T) {
	s, e := engineOn(t, tmpfs(t, "24m"))
	runs, spec := idle("onprem-runs"), idle("onprem-full")
	if err := e.Start(t.Context(), runs); err != nil {
		t.Fatal(err)
	}
	before, _, err := e.Inspect(t.Context(), runs.Name)
	if err != nil {
		t.Fatal(err)
	}
	room := fill(t, s.dir+"/root")
	for range 3 {
		if err := e.Start(t.Context(), spec); err == nil ||
			!strings.Contains(err.Error(), "no space left on device") {
			t.Fatalf("Start() = %v, want the lack of space", err)
		}
	}
	if now, _, err := e.Inspect(t.Context(), runs.Name); err != nil || now != before {
		t.Errorf("Inspect() of what runs = %+v, %v, want %+v", now, err, before)
	}
	if err := os.Remove(room); err != nil {
		t.Fatal(err)
	}
	if err := e.Start(t.Context(), spec); err != nil {
		t.Errorf("Start() when there is room again: %v", err)
	}
}

// Without room for an image each attempt is an error and leaves nothing but complete layers, once;
// with room the image is pulled.
func TestPullWithoutRoom(t *testing.T) {
	for _, tt := range []struct {
		name string
		// take leaves less room than the image needs, and give has it back.
		take func(s *supply) (give func() error, err error)
	}{
		{name: "for the layers", take: func(s *supply) (func() error, error) {
			room := fill(t, s.dir+"/root")
			info, err := os.Stat(room)
			if err != nil {
				return nil, err
			}
			return func() error {
				return os.Remove(room)
			}, os.Truncate(room, info.Size()-largeLayer/2)
		}},
		{name: "for what arrives", take: func(s *supply) (func() error, error) {
			return func() error {
				return unix.Unmount(s.temporary, unix.MNT_DETACH)
			}, unix.Mount("tmpfs", s.temporary, "tmpfs", 0, "size=1m")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSupplyIn(t, tmpfs(t, "64m"))
			give, err := tt.take(s)
			if err != nil {
				t.Fatal(err)
			}
			var after []uint64
			// A layer that is whole may stay, of any attempt: what is left at each one takes room each time.
			for n := 0; n < 4 || after[n-1] < after[n-2]; n++ {
				if n == 10 {
					t.Fatalf("blocks of room after each attempt: %d", after)
				}
				if _, err := s.ensure(t.Context(), s.direct); err == nil ||
					!strings.Contains(err.Error(), "no space left on device") {
					t.Fatalf("EnsureImage() = %v, want the lack of space", err)
				}
				s.clean()
				after = append(after, room(t, s.dir+"/root"))
			}
			if err := give(); err != nil {
				t.Fatal(err)
			}
			if pulled, err := s.ensure(t.Context(), s.direct); err != nil || !pulled {
				t.Errorf("EnsureImage() when there is room again = %v, %v", pulled, err)
			}
		})
	}
}

// room is how many blocks of a file system are free.
func room(t *testing.T, dir string) uint64 {
	t.Helper()
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		t.Fatal(err)
	}
	return s.Bfree
}
