//go:build remote

package main

import (
	"context"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// leaveToStatic ends the program when there is a manifest for the daemon that it runs: two VRRP
// routers would hold one VIP, and two servers have port 53. The room leaves in order first, and the
// condition of the program's unit keeps it from being started again.
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
