package proc

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/test/need"
)

// TestHeld stops a process by a signal, has it go on, and stops it as a tracer. Its name
// contains the state that Held searches for.
func TestHeld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a) T 1 (")
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	pid := cmd.Process.Pid
	stat, err := OpenStat(pid)
	if err != nil {
		t.Fatal(err)
	}
	defer stat.Close()
	until := func(what string, want bool) {
		t.Helper()
		for end := time.Now().Add(5 * time.Second); Held(pid) != want; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: held %v", what, !want)
			}
		}
	}
	until("it runs", false)
	if stat.Held() {
		t.Error("the open file shows a process that runs as stopped")
	}
	cmd.Process.Signal(unix.SIGSTOP)
	until("stopped", true)
	if !stat.Held() {
		t.Error("the open file does not show that it is stopped")
	}
	cmd.Process.Signal(unix.SIGCONT)
	until("continued", false)
	if stat.Held() {
		t.Error("the open file shows an old state")
	}

	runtime.LockOSThread() // a tracer is a thread
	defer runtime.UnlockOSThread()
	if err := unix.PtraceAttach(pid); err != nil {
		need.Missing(t, "needs to trace a process: "+err.Error())
	}
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, 0, nil); err != nil || !status.Stopped() {
		t.Fatalf("wait for the traced process: %v %v", status, err)
	}
	if Held(pid) {
		t.Error("a tracer's process is taken for a stopped one")
	}
	if err := unix.PtraceDetach(pid); err != nil {
		t.Fatal(err)
	}
	if Held(1 << 30) {
		t.Error("a process that is not there is held")
	}
}
