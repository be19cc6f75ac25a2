package kubeconfig

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
)

// CheckInterval is how often a program checks whether its kubeconfig was removed or replaced.
const CheckInterval = 5 * time.Second

const (
	// everyRefused is how often the API is then asked whether the old one is still accepted. It is
	// longer, as a program may replace the file on all nodes of a cluster at once.
	everyRefused = 15 * time.Second
	// keepKubeconfig is how long a program continues with a former kubeconfig that the API accepts.
	// If a container starts without the file, the container runtime makes a directory in its place:
	// so the time is longer than replacing the file by hand takes. For that time the program may
	// miss what only the new file has, such as another server.
	keepKubeconfig = 5 * time.Minute
)

// Mounted is a kubeconfig that is mounted into a container by itself, and may be removed on the
// host, or replaced by a rename. The container sees the former one until it restarts, and cannot
// distinguish the two cases.
type Mounted struct {
	path    string
	refused func(context.Context) error // why the API does not accept it; nil if it does
	log     *slog.Logger

	since, asked time.Time // when it was first seen without a name, and when the API was last asked
}

// NewMounted takes the path in the container.
func NewMounted(path string, log *slog.Logger) *Mounted {
	refused := NewAccess(path, slog.New(slog.DiscardHandler)).Refused
	return &Mounted{path: path, refused: refused, log: log}
}

// Obsolete is why the program needs another kubeconfig now; nil while it continues.
func (m *Mounted) Obsolete(ctx context.Context, now time.Time) error {
	gone, err := file.Unlinked(m.path)
	if err != nil || !gone {
		return nil
	}
	if m.since.IsZero() {
		m.since = now
		m.log.Warn("the kubeconfig was removed or replaced on the host: this program goes on with "+
			"the former one while the API accepts it", "file", m.path, "for", keepKubeconfig)
	}
	if now.Sub(m.since) >= keepKubeconfig {
		return fmt.Errorf("it was removed or replaced %v ago", keepKubeconfig)
	}
	if now.Sub(m.asked) < everyRefused {
		return nil
	}
	m.asked = now
	return m.refused(ctx)
}
