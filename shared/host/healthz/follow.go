package healthz

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// PublishAt publishes pages at the addresses that own returns, until they change or ctx ends. It
// calls own again at the interval every.
func PublishAt(
	ctx context.Context, own func() ([]netip.AddrPort, error), every time.Duration,
	pages map[string]Page,
) error {
	at, err := own()
	if err != nil {
		return err
	}
	ctx, end := context.WithCancel(ctx)
	var watcher sync.WaitGroup
	defer watcher.Wait()
	defer end()
	watcher.Go(func() {
		defer end()
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if now, err := own(); err == nil && !slices.Equal(now, at) {
				return
			}
		}
	})
	return Publish(ctx, at, pages)
}
