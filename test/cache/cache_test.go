package cache

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// TestPrograms builds what is not in the cache yet, and has each program say what it is.
func TestPrograms(t *testing.T) {
	for _, tt := range []struct {
		name    string
		build   func(context.Context) (string, error)
		version string // the flag
		want    string
	}{
		{"CoreDNS", CoreDNS, "-version", "CoreDNS-1."},
		{"kube-apiserver", KubeAPIServer, "--version", "Kubernetes v1.36.3"},
		{"kubelet", Kubelet, "--version", "Kubernetes v1.36.3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path, err := tt.build(t.Context())
			if err != nil {
				need.Missing(t, fmt.Sprintf("needs %s: %v", tt.name, err))
			}
			out, err := exec.CommandContext(t.Context(), path, tt.version).CombinedOutput()
			if err != nil || !strings.Contains(string(out), tt.want) {
				t.Errorf("%s %s = %q, %v, want %q", path, tt.version, out, err, tt.want)
			}
		})
	}
}
