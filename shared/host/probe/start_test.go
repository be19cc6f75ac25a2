package probe

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestStart holds that a server which starts is waited for, that a question ends in its own time,
// and that what a server said before the end is reported, not that the last question was cut short.
func TestStart(t *testing.T) {
	refuses := errors.New("refuses")
	silent := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	start := Start{Within: 3 * time.Second, Each: 300 * time.Millisecond, Pause: 10 * time.Millisecond}
	for _, tt := range []struct {
		name  string
		ask   func(ctx context.Context, since time.Duration) error
		want  error
		after time.Duration
	}{
		{"it answers", func(context.Context, time.Duration) error { return nil }, nil, 0},
		{"it starts", func(_ context.Context, since time.Duration) error {
			if since < time.Second {
				return refuses
			}
			return nil
		}, nil, time.Second},
		{"a question without an answer ends", func(ctx context.Context, since time.Duration) error {
			if since == 0 {
				return silent(ctx)
			}
			return nil
		}, nil, 310 * time.Millisecond},
		{"it refuses", func(context.Context, time.Duration) error { return refuses }, refuses, 3 * time.Second},
		{"it refuses, and the last question is cut short", func(ctx context.Context, since time.Duration) error {
			if since < 2900*time.Millisecond {
				return refuses
			}
			return silent(ctx)
		}, refuses, 3 * time.Second},
		{"it says nothing", func(ctx context.Context, _ time.Duration) error { return silent(ctx) }, context.DeadlineExceeded, 3 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				err := start.Wait(t.Context(), func(ctx context.Context) error { return tt.ask(ctx, time.Since(begin)) })
				if !errors.Is(err, tt.want) || time.Since(begin) != tt.after {
					t.Errorf("%v after %v, want %v after %v", err, time.Since(begin), tt.want, tt.after)
				}
			})
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := start.Wait(ctx, silent); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of its caller: %v", err)
	}
}
