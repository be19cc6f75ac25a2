package child

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/host/proc"
	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// script is a specification of a real process that runs a shell script.
func script(text string, env ...string) container.Spec {
	s := container.Spec{Name: "one", Command: []string{"/bin/sh", "-c", text}, Env: map[string]string{}}
	for i := 0; i+1 < len(env); i += 2 {
		s.Env[env[i]] = env[i+1]
	}
	return s
}

func keeper(t *testing.T) *Keeper {
	t.Helper()
	k := New(Options{Wake: loop.NewWake(), Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() {
		if err := k.Stop(t.Context(), "one"); err != nil {
			t.Error(err)
		}
	})
	return k
}

// pid waits for the number that a script has written.
func pid(t *testing.T, file string) int {
	t.Helper()
	for range 500 {
		text, _ := os.ReadFile(file)
		if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			return n
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the process has not started")
	return 0
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// TestEnsure holds that one process runs, the same while its specification is, and another one for
// another specification, and that Stop ends it also if it ignores SIGTERM.
func TestEnsure(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	k := keeper(t)
	one := script("trap '' TERM; echo $$ >"+dir+"/one; while :; do sleep 0.1; done", "A", "1")
	if k.Running() || k.PID() != 0 || !errors.Is(k.Signal(syscall.SIGHUP), os.ErrProcessDone) {
		t.Error("it runs before it was started")
	}
	for range 3 {
		if err := k.Ensure(t.Context(), one); err != nil {
			t.Fatal(err)
		}
	}
	first := pid(t, dir+"/one")
	if err := k.Signal(0); err != nil || !k.Running() || !alive(first) || k.PID() != first {
		t.Errorf("process %d does not run: %v", first, err)
	}
	other := script("echo $$ >" + filepath.Join(dir, "other") + "; exec sleep 100")
	begun := time.Now()
	if err := k.Ensure(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took < grace || alive(first) {
		t.Errorf("process %d, which ignores SIGTERM, was replaced after %v, and lives: %t", first, took, alive(first))
	}
	second := pid(t, dir+"/other")
	if err := k.Stop(t.Context(), "one"); err != nil || k.Running() || alive(second) {
		t.Errorf("stopped: %v, runs %t", err, alive(second))
	}
	if err := k.Ensure(t.Context(), other); err != nil {
		t.Errorf("a process that was stopped does not start at once: %v", err)
	}
}

// TestEnsure_EndsEarly holds that a process which ends at once is not started again and again, and
// that its end asks for a round.
func TestEnsure_EndsEarly(t *testing.T) {
	t.Parallel()
	dir, wake := t.TempDir(), loop.NewWake()
	k := New(Options{Wake: wake, Log: slog.New(slog.DiscardHandler)})
	s := script("echo x >>" + dir + "/starts; exit 3")
	starts := func() int {
		text, _ := os.ReadFile(dir + "/starts")
		return strings.Count(string(text), "x")
	}
	begun := time.Now()
	if err := k.Ensure(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	<-wake
	again := false
	for range 20 {
		n, err := starts(), k.Ensure(t.Context(), s)
		if again = err == nil; again && time.Since(begun) > soonest {
			break // a busy machine took that long
		}
		if n != 1 || err == nil || !strings.Contains(err.Error(), "ended soon after its start, and is started again 1s after its end") {
			t.Fatalf("%d starts, error %v", n, err)
		}
		time.Sleep(soonest / 30)
	}
	if !again {
		time.Sleep(soonest/3 + 100*time.Millisecond)
		if err := k.Ensure(t.Context(), s); err != nil {
			t.Errorf("after %v: %v", soonest, err)
		}
	}
	<-wake
	if n := starts(); n != 2 {
		t.Errorf("%d starts after %v", n, soonest)
	}
	if err := k.Ensure(t.Context(), container.Spec{Name: "none", Command: []string{dir + "/no-such-program"}}); err == nil {
		t.Error("a program that is not there runs")
	}
}

// TestEnsure_Killed holds that the kernel ends the process with the program, also if that is killed and
// its threads came and went.
func TestEnsure_Killed(t *testing.T) {
	if dir := os.Getenv("ONPREM_INFRA_TEST_PARENT"); dir != "" {
		k := New(Options{Wake: loop.NewWake(), Log: slog.New(slog.DiscardHandler)})
		if err := k.Ensure(t.Context(), script("echo $$ >"+dir+"/one; exec sleep 100")); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			go func() { runtime.LockOSThread() }() // its thread ends with it
		}
		time.Sleep(100 * time.Second)
	}
	t.Parallel()
	dir := t.TempDir()
	parent := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestEnsure_Killed$")
	parent.Env = append(os.Environ(), "ONPREM_INFRA_TEST_PARENT="+dir)
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	one := pid(t, dir+"/one")
	time.Sleep(100 * time.Millisecond)
	p, err := proc.Open(one)
	if err != nil {
		t.Fatalf("process %d has ended before its parent: %v", one, err)
	}
	defer p.Close()
	early, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := p.Wait(early); err == nil {
		t.Fatalf("process %d has ended before its parent", one)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // it was killed
	late, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := p.Wait(late); err != nil {
		t.Errorf("process %d outlives its parent: %v", one, err)
		_ = p.Signal(syscall.SIGKILL)
	}
}
