package ordered

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/container"
)

// beside runs the parent of a real process, a shell that writes what happens to it into a file.
type beside struct {
	t        *testing.T
	dir, log string
	end      func()
}

func start(t *testing.T, dir string) *beside {
	t.Helper()
	return startEnding(t, dir, "exit 0")
}

// startEnding starts one that does what it is given to end.
func startEnding(t *testing.T, dir, ending string) *beside {
	t.Helper()
	b := &beside{t: t, dir: dir, log: filepath.Join(dir, "log")}
	script := "trap 'echo hup >>" + b.log + "' HUP; trap 'echo usr2 >>" + b.log + "' USR2; trap 'echo term >>" + b.log + "; " + ending + "' TERM; echo start >>" +
		b.log + "; while :; do sleep 0.02; done"
	// A shell cannot trap what its parent ignores, as those of nohup ignore SIGHUP.
	p := &Parent{Dir: dir, Command: []string{"env", "--default-signal=HUP,USR2", "/bin/sh", "-c", script}, Log: slog.New(slog.DiscardHandler)}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	ended := false
	b.end = func() {
		if !ended {
			ended = true
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(b.end)
	return b
}

// says waits for what has happened.
func (b *beside) says(want string) {
	b.t.Helper()
	got := ""
	for range 3000 {
		text, _ := os.ReadFile(b.log)
		if got = strings.Join(strings.Fields(string(text)), " "); got == want {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.t.Fatalf("%q has happened, want %q", got, want)
}

func spec(configuration string) container.Spec {
	return container.Spec{Name: "one", Env: map[string]string{"A": configuration}}
}

// TestDaemon holds that the process runs with an order and not without, that another order is
// another process, and that each signal arrives once.
func TestDaemon(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := &Daemon{Dir: dir}
	if err := d.Stop(t.Context(), "one"); err != nil {
		t.Errorf("nothing runs: %v", err)
	}
	b := start(t, dir)
	if d.Running() || !errors.Is(d.Signal(syscall.SIGHUP), os.ErrProcessDone) {
		t.Error("it runs without an order")
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(d.Ensure(t.Context(), spec("1")))
	b.says("start")
	must(d.Ensure(t.Context(), spec("1")))
	must(d.Signal(syscall.SIGHUP))
	b.says("start hup")
	must(d.Signal(syscall.SIGUSR2))
	must(d.Ensure(t.Context(), spec("1")))
	b.says("start hup usr2")
	if err := d.Signal(syscall.SIGQUIT); err == nil {
		t.Error("a signal that is no order is one")
	}
	again := &Daemon{Dir: dir} // this program is started anew
	must(again.Ensure(t.Context(), spec("1")))
	must(again.Signal(syscall.SIGHUP))
	b.says("start hup usr2 hup")
	must(again.Ensure(t.Context(), spec("2")))
	b.says("start hup usr2 hup term start")
	must(again.Stop(t.Context(), "one"))
	b.says("start hup usr2 hup term start term")
	if again.Running() {
		t.Error("it runs after it was stopped")
	}
	must(again.Ensure(t.Context(), spec("2")))
	b.says("start hup usr2 hup term start term start")
	b.end()
	b.says("start hup usr2 hup term start term start term")
	if again.Running() {
		t.Error("it runs without its parent")
	}
	start(t, dir) // the container was started anew, and its order is there
	b.says("start hup usr2 hup term start term start term start")
}

// TestDaemon_StopWithoutParent holds that a daemon whose parent has ended in order is stopped, as
// both containers of a pod get SIGTERM at once.
func TestDaemon_StopWithoutParent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b, d := start(t, dir), &Daemon{Dir: dir}
	if err := d.Ensure(t.Context(), spec("1")); err != nil {
		t.Fatal(err)
	}
	b.says("start") // from then on it handles SIGTERM
	b.end()
	b.says("start term")
	if err := d.Stop(t.Context(), "one"); err != nil {
		t.Error(err)
	}
}

// TestDaemon_StopSlow holds that a daemon which takes longer to end than an order takes is waited
// for: its caller takes the packet filter away then.
func TestDaemon_StopSlow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b, d := startEnding(t, dir, "sleep 2.3; echo ended >>"+filepath.Join(dir, "log")+"; exit 0"), &Daemon{Dir: dir}
	if err := d.Ensure(t.Context(), spec("1")); err != nil {
		t.Fatal(err)
	}
	b.says("start")
	if err := d.Stop(t.Context(), "one"); err != nil {
		t.Error(err)
	}
	b.says("start term ended")
}

// TestDaemon_Silent holds that a daemon which runs and does not answer is ordered anew, and that a
// container which does not follow is named.
func TestDaemon_Silent(t *testing.T) {
	t.Parallel()
	var fails error
	dir := t.TempDir()
	d := &Daemon{Dir: dir, Probe: func(context.Context) error { return fails }}
	if err := d.Ensure(t.Context(), spec("1")); err == nil || !strings.Contains(err.Error(), "does it run?") {
		t.Errorf("without a parent: %v", err)
	}
	b := start(t, dir)
	if err := d.Ensure(t.Context(), spec("1")); err != nil {
		t.Fatal(err)
	}
	b.says("start")
	fails = errors.New("silent")
	for range failures {
		if err := d.Ensure(t.Context(), spec("1")); !errors.Is(err, fails) {
			t.Errorf("error %v", err)
		}
	}
	b.says("start term start")
}
