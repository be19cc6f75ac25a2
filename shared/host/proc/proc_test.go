package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// start runs a sleeping child that the test reaps by its own call.
func start(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd
}

func open(t *testing.T, pid int) *Process {
	t.Helper()
	p, err := Open(pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func TestWaitSeesTheEnd(t *testing.T) {
	cmd := start(t)
	p := open(t, cmd.Process.Pid)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- p.Wait(ctx) }()
	select {
	case err := <-done:
		t.Fatalf("Wait returned %v while the process lived", err)
	case <-time.After(50 * time.Millisecond):
	}
	if err := p.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	// The child has not been reaped: a zombie has ended.
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(ctx); err != nil {
		t.Errorf("a second Wait: %v", err)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	p := open(t, start(t).Process.Pid)
	for range 2 { // a Wait that was given up does not spoil the next one
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if err := p.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the context's error", err)
		}
		cancel()
	}
}

func TestCPUStandsStill(t *testing.T) {
	cmd := exec.Command("sh", "-c", "while :; do sleep 0.01; done")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	p := open(t, cmd.Process.Pid)
	used := func() time.Duration {
		time.Sleep(200 * time.Millisecond)
		cpu, err := p.CPU()
		if err != nil {
			t.Fatal(err)
		}
		return cpu
	}
	first, second := used(), used()
	if second <= first {
		t.Errorf("a process that works used %s and then %s", first, second)
	}
	p.Signal(unix.SIGSTOP)
	if first, second = used(), used(); second != first {
		t.Errorf("a stopped process used %s and then %s", first, second)
	}
}

// TestTracer traces a child as a debugger does, from a thread that the kernel then takes for the
// tracer.
func TestTracer(t *testing.T) {
	p := open(t, start(t).Process.Pid)
	if tracer, err := p.Tracer(); tracer != 0 || err != nil {
		t.Errorf("Tracer() = %d, %v, want none", tracer, err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.PtraceSeize(p.PID); err != nil {
		t.Fatal(err)
	}
	if tracer, err := p.Tracer(); tracer != unix.Gettid() || err != nil {
		t.Errorf("Tracer() = %d, %v, want this thread, %d", tracer, err, unix.Gettid())
	}
	// ESRCH: it is not in a stop
	if err := unix.PtraceDetach(p.PID); err != nil && !errors.Is(err, unix.ESRCH) {
		t.Fatal(err)
	}
	if tracer, err := (&Process{PID: 1<<22 + 1}).Tracer(); err == nil {
		t.Errorf("Tracer() of no process = %d, want an error", tracer)
	}
}

// TestSignalNeverReachesAnother reaps the child, so its number is free for anybody: a signal must
// then go nowhere.
func TestSignalNeverReachesAnother(t *testing.T) {
	cmd := start(t)
	p := open(t, cmd.Process.Pid)
	cmd.Process.Kill()
	cmd.Wait()
	if err := p.Signal(unix.SIGKILL); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("got %v, want os.ErrProcessDone", err)
	}
	if _, err := Open(cmd.Process.Pid); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("Open of a reaped process: got %v, want os.ErrProcessDone", err)
	}
}

// TestOf holds that a process is known by its control group, and that one which has ended is
// no process's: its number may be another's by now.
func TestOf(t *testing.T) {
	cmd := start(t)
	p := open(t, cmd.Process.Pid)
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for group, want := range map[string]bool{strings.TrimSpace(string(text)): true,
		"619cbf5bc3a5": false} {
		if own, err := p.Of(group); err != nil || own != want {
			t.Errorf("of %q: %v, %v, want %v", group, own, err, want)
		}
	}
	cmd.Process.Kill()
	cmd.Wait()
	if own, err := p.Of("/"); own || !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("of one that has ended: %v, %v", own, err)
	}
}
