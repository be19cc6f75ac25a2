package pace

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"
)

// TestKeep_Cancelled holds that a feed which is not wanted any more leaves no failing task behind.
func TestKeep_Cancelled(t *testing.T) {
	tasks := NewTasks(t.Context(), slog.New(slog.DiscardHandler))
	failed := make(chan struct{})
	stop := tasks.Keep("receive", func(context.Context) error {
		time.AfterFunc(10*time.Millisecond, func() { close(failed) })
		return errors.New("not permitted")
	})
	<-failed
	if got := tasks.Failing(); len(got) != 1 {
		t.Errorf("while it fails: %q", got)
	}
	stop()
	tasks.Wait()
	if got := tasks.Failing(); len(got) != 0 {
		t.Errorf("not wanted any more: %q", got)
	}
}
