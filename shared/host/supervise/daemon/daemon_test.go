package daemon

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/proc"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/pace"
)

// TestCheck_UnknownProcess holds that a keepalived whose VRRP process is not found is not taken for one that does
// nothing, and that the process is looked for until it is found. FAKE: a program that has no child and names none.
func TestCheck_UnknownProcess(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	ctx, cancel := context.WithCancel(t.Context())
	tasks := pace.NewTasks(ctx, log)
	d, err := New(Options{Command: []string{"sh", "-c", "exec sleep 60"}, RunDir: t.TempDir(), Log: log, Tasks: tasks})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	if err := d.Start(ctx, discard{}, "one", now); err != nil {
		t.Fatal(err)
	}
	defer tasks.Wait()
	defer cancel()
	defer d.Kill()
	d.NoteReport()
	check := func(beats int) {
		t.Helper()
		for range beats {
			now = now.Add(pace.Beat)
			if err := d.Check(now, true, 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	check(2 * maxIdle)
	time.Sleep(100 * time.Millisecond)
	if d.Exited() || d.VRRPDone() != nil {
		t.Fatal("it was killed, or is known")
	}
	if err := os.WriteFile(d.vrrpPIDFile(), fmt.Appendln(nil, d.PID()), 0o644); err != nil {
		t.Fatal(err)
	}
	check(1)
	if d.VRRPDone() == nil {
		t.Fatal("it is not found")
	}
	check(2 * maxIdle)
	select {
	case <-d.VRRPDone():
	case <-time.After(10 * time.Second):
		t.Error("a known one that does nothing was not killed")
	}
}

// TestReload_SignalFails holds that a configuration of which keepalived could not be notified is not
// reported as applied. FAKE: the process has been reaped by the test, which no other process can.
func TestReload_SignalFails(t *testing.T) {
	reaper, err := proc.NewReaper() // which does not run
	if err != nil {
		t.Fatal(err)
	}
	d := &Daemon{Options: Options{Command: []string{"true"}, RunDir: t.TempDir(),
		Log: slog.New(slog.DiscardHandler)}, reaper: reaper}
	if err := d.Start(t.Context(), discard{}, "old", time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := syscall.Wait4(d.PID(), nil, 0, nil); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := d.Reload("new"); err == nil || d.Config() != "old" {
			t.Errorf("applied %q, %v", d.Config(), err)
		}
	}
}

// discard is a FIFO without a reader.
type discard struct{}

func (discard) WriteString(s string) (int, error) { return io.Discard.Write([]byte(s)) }
