package cache

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/onprem-infra/onprem-infra/test/need"
)

func TestDir(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	broken := errors.New("broken")
	if _, err := Dir("x-1", func(dir string) error { return broken }); !errors.Is(err, broken) {
		t.Fatalf("a build that fails: %v", err)
	}
	var built atomic.Int64
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			dir, err := Dir("x-1", func(dir string) error {
				built.Add(1)
				return os.WriteFile(filepath.Join(dir, "x"), nil, 0o755)
			})
			if err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(filepath.Join(dir, "x")); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if built.Load() != 1 {
		t.Errorf("built %d times", built.Load())
	}
}

func TestDigest(t *testing.T) {
	module := fstest.MapFS{"go.mod": {Data: []byte("a")}, "main.go": {Data: []byte("b")}}
	before, err := digest(module)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]string{"go.mod": "c", "main.go": "", "other.go": "b"} {
		changed := fstest.MapFS{"go.mod": module["go.mod"], "main.go": module["main.go"]}
		changed[name] = &fstest.MapFile{Data: []byte(change)}
		if after, err := digest(changed); err != nil || string(after) == string(before) {
			t.Errorf("a change of %s is not seen (%v)", name, err)
		}
	}
}

func TestCoreDNS(t *testing.T) {
	path, err := CoreDNS(t.Context())
	if err != nil {
		need.Missing(t, fmt.Sprintf("needs CoreDNS: %v", err))
	}
	if info, err := os.Stat(path); err != nil || info.Mode()&0o111 == 0 {
		t.Errorf("%s: %v, %v", path, info, err)
	}
}
