package output

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestUndisturbed has a process end itself while it writes: it writes to the end, and ends by that
// signal then, unless it ignores it.
func TestUndisturbed(t *testing.T) {
	const inside = "ONPREM_INFRA_TEST_UNDISTURBED"
	if path := os.Getenv(inside); path != "" {
		err := undisturbed(func() error {
			for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM} {
				if err := syscall.Kill(os.Getpid(), s); err != nil {
					return err
				}
				time.Sleep(100 * time.Millisecond)
			}
			return os.WriteFile(path, []byte("whole"), 0o644)
		})
		t.Fatalf("it goes on, %v", err)
	}
	for name, want := range map[string]syscall.Signal{
		"":              syscall.SIGHUP,
		"trap '' HUP; ": syscall.SIGTERM,
	} {
		path := filepath.Join(t.TempDir(), "file")
		cmd := exec.CommandContext(t.Context(), "sh", "-c", name+`exec "$0" -test.run '^TestUndisturbed$'`, os.Args[0])
		cmd.Env = append(os.Environ(), inside+"="+path)
		err := cmd.Run()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != want {
			t.Errorf("%q: %v, want an end by %v", name, err, want)
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != "whole" {
			t.Errorf("%q: the file is %q, %v", name, text, err)
		}
	}
}
