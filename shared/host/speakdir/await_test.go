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

// TestAwaitLeft holds that a wait lasts until the host has left, or its time is over.
func TestAwaitLeft(t *testing.T) {
	t.Parallel()
	d := Dir(t.TempDir())
	write := func(left bool) {
		if _, err := file.Update(d.At(spoken.StatusFile), spoken.Encode(spoken.Status{At: time.Now(), Up: uptime.Now(), Left: left}), 0o644); err != nil {
			t.Error(err)
		}
	}
	write(false)
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := d.AwaitLeft(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it does not wait: %v", err)
	}
	time.AfterFunc(300*time.Millisecond, func() { write(true) })
	if _, err := d.AwaitLeft(t.Context()); err != nil {
		t.Error(err)
	}
}
