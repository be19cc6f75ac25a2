//go:build remote

package main

import (
	"context"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// leaveToStatic stops the program if a static pod's manifest for its daemon appears: there would be
// dual holders of the VIP, or two servers on port 53. The room releases its VIP first, and a
// condition of the program's unit prevents another start.
func (m *machine) leaveToStatic(ctx context.Context) {
	wake := loop.NewWake()
	m.watch(ctx, "static pods", func(ctx context.Context) error { return file.Watch(ctx, []string{m.static}, wake) })
	m.watchers.Go(func() {
		poll := time.NewTicker(everyRound)
		defer poll.Stop()
		for {
			if there, err := exists(m.static); err == nil && there {
				m.log.Info("leave", "why", "kubelet runs the daemon from "+m.static)
				m.stop()
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-wake:
			case <-poll.C:
			}
		}
	})
}
