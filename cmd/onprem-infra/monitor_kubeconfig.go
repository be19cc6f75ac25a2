//go:build remote

package main

import (
	"context"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
)

// everyKubeconfig is how soon a monitor sees that its kubeconfig has been replaced.
const everyKubeconfig = 5 * time.Second

// untilReplaced calls end when the kubeconfig has been replaced on the host. The pod has that one
// file mounted, and goes on to see the former one until the container is started anew. An empty path
// is none.
func (m *monitor) untilReplaced(ctx context.Context, path string, end func()) {
	if path == "" {
		return
	}
	m.watchers.Go(func() {
		tick := time.NewTicker(everyKubeconfig)
		defer tick.Stop()
		for {
			if gone, err := file.Unlinked(path); err == nil && gone {
				m.log.Info("the kubeconfig was replaced: this program ends, and begins anew with the other one", "file", path)
				end()
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	})
}
