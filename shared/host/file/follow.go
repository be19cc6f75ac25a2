package file

import (
	"context"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// pollInterval is the time between two readings of a file that cannot be watched.
const pollInterval = time.Second

// Follow calls read at once, whenever a file may have changed, and at intervals: a host on which
// much is watched may have no inotify instance left. It ends when read reports that it has what it
// waits for, or fails, and with the error of ctx.
func Follow(ctx context.Context, path string, read func() (done bool, err error)) error {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	wake, tick := loop.NewWake(), time.NewTicker(pollInterval)
	defer tick.Stop()
	go func() { _ = Watch(watching, []string{path}, wake) }() // without it the ticks remain
	for {
		if done, err := read(); done || err != nil {
			return err
		}
		select {
		case <-wake:
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
