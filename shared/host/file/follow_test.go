package file

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// without has a run of this test program have no inotify instance.
const without = "ONPREM_FILE_TEST_NO_INOTIFY"

// TestFollow holds that a file is read until it has what is waited for, its reading fails or the context ends, with an
// inotify instance and without one.
func TestFollow(t *testing.T) {
	if os.Getenv(without) == "" {
		again := exec.Command(os.Args[0], "-test.run=^TestFollow$", "-test.v")
		again.Env = append(os.Environ(), without+"=1")
		one := []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		again.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, UidMappings: one, GidMappings: one}
		if out, err := again.CombinedOutput(); err != nil {
			t.Errorf("without inotify: %v\n%s", err, out)
		}
	} else if err := os.WriteFile("/proc/sys/user/max_inotify_instances", []byte("0"), 0o644); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "file")
	there := func() (bool, error) {
		_, err := os.Stat(path)
		return err == nil, nil
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := Follow(short, path, there); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("without the file: %v", err)
	}
	broken := errors.New("broken")
	if err := Follow(t.Context(), path, func() (bool, error) { return false, broken }); !errors.Is(err, broken) {
		t.Errorf("a reading that fails: %v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- Follow(t.Context(), path, there) }()
	select {
	case err := <-ended:
		t.Fatalf("it has not waited: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it waits for what has happened")
	}
}
