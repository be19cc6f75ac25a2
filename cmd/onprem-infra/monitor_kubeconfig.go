//go:build remote

package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/kube/kubeconfig"
)

const (
	// everyKubeconfig is how often a monitor checks whether its kubeconfig was removed or replaced.
	everyKubeconfig = 5 * time.Second
	// everyRefused is how often it then asks the API whether the old one is still accepted. It is
	// longer, as a program may replace the file on all nodes of a cluster at once.
	everyRefused = 15 * time.Second
	// keepKubeconfig is how long a monitor continues with a former kubeconfig that the API accepts.
	// If a container starts without the file, the container runtime makes a directory in its place:
	// so the time is longer than replacing the file by hand takes. For as long the monitor may miss
	// what only the new file has, such as another server.
	keepKubeconfig = 5 * time.Minute
)

// unlinked is a kubeconfig that may be removed, or replaced by a rename. The pod mounts that one
// file: it sees the former one until the container restarts, and cannot distinguish the two cases.
type unlinked struct {
	path    string
	refused func(context.Context) error // why the API does not accept it; nil if it does
	log     *slog.Logger

	since, asked time.Time // when it was first seen without a name, and when the API was last asked
}

// ends is why a monitor needs another kubeconfig now; nil while it continues.
func (u *unlinked) ends(ctx context.Context, now time.Time) error {
	gone, err := file.Unlinked(u.path)
	if err != nil || !gone {
		return nil
	}
	if u.since.IsZero() {
		u.since = now
		u.log.Warn("the kubeconfig was removed or replaced on the host: this program goes on with the former one while the API accepts it",
			"file", u.path, "for", keepKubeconfig)
	}
	if now.Sub(u.since) >= keepKubeconfig {
		return fmt.Errorf("it was removed or replaced %v ago", keepKubeconfig)
	}
	if now.Sub(u.asked) < everyRefused {
		return nil
	}
	u.asked = now
	return u.refused(ctx)
}

// untilReplaced calls end when the monitor needs the new kubeconfig of the host. With an empty path
// it does nothing.
func (m *monitor) untilReplaced(ctx context.Context, path string, end func()) {
	if path == "" {
		return
	}
	u := &unlinked{path: path, refused: kubeconfig.NewAccess(path, quiet()).Refused, log: m.log}
	m.watchers.Go(func() {
		tick := time.NewTicker(everyKubeconfig)
		defer tick.Stop()
		for {
			if why := u.ends(ctx, time.Now()); why != nil {
				m.log.Info("the kubeconfig was replaced: this program restarts with the new one", "file", path, "why", why)
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
