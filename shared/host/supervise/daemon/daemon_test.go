package daemon

import (
	"io"
	"log/slog"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/proc"
)

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
