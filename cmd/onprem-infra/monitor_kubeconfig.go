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
	// everyKubeconfig is how soon a monitor sees that its kubeconfig has been removed or replaced.
	everyKubeconfig = 5 * time.Second
	// everyRefused is how often the API is asked then whether it accepts the old one: of all nodes
	// of a cluster at once, where a program replaces the file everywhere.
	everyRefused = 15 * time.Second
	// keepKubeconfig is how long a monitor goes on with a kubeconfig that the API accepts. A
	// container that starts while there is none has the container runtime make a directory in its
	// place: so it is longer than it takes to remove the file by hand and to put another one there.
	// It is as long as the monitor may miss what only the other one names, such as another server.
	keepKubeconfig = 5 * time.Minute
)

// unlinked is a kubeconfig that may be removed, or replaced by a rename. The pod has that one file
// mounted, sees the former one until the container is started again, and cannot tell the two apart.
type unlinked struct {
	path    string
	refused func(context.Context) error // why the API does not accept it; nil if it does
	log     *slog.Logger

	since, asked time.Time // when it was first seen without a name, and when the API was last asked
}

// ends is why a monitor needs another kubeconfig at this time; nil while it goes on.
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

// untilReplaced calls end when the monitor needs the kubeconfig that is on the host by then. An
// empty path is none.
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
				m.log.Info("the kubeconfig was replaced: this program ends, and begins anew with the other one", "file", path, "why", why)
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
