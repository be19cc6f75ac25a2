package loop

import (
	"context"
	"time"
)

// Every yields at once, and then at each tick until ctx ends.
func Every(ctx context.Context, interval time.Duration) func(yield func() bool) {
	return func(yield func() bool) {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for yield() {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}
}
