package speakdir

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/uptime"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// TestAwaitLeft_Unwatched holds that a host which cannot watch files waits all the same until it has left, or its time is
// over. The watch is a FAKE: to have no inotify instance left would be so for all programs of the machine.
func TestAwaitLeft_Unwatched(t *testing.T) {
	t.Parallel()
	d := Dir(t.TempDir())
	write := func(left bool) {
		if _, err := file.Update(d.At(spoken.StatusFile), spoken.Encode(spoken.Status{At: time.Now(), Up: uptime.Now(), Left: left}), 0o644); err != nil {
			t.Error(err)
		}
	}
	none := func(context.Context, []string, chan<- struct{}) error { return errors.New("too many open files") }
	write(false)
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := d.awaitLeft(short, none); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it does not wait: %v", err)
	}
	time.AfterFunc(300*time.Millisecond, func() { write(true) })
	if _, err := d.awaitLeft(t.Context(), none); err != nil {
		t.Error(err)
	}
}
