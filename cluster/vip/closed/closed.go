// Package closed watches the ports behind VIPs on a node that announces these to routers. If all
// ports of a VIP's service refuse connections, clients of this node are refused too, and there
// is no timeout to wait for: the checks fail for routers after two probes, and pass again with
// one probe of their own. A service that hangs refuses nothing, and is left to the checks.
package closed

import (
	"context"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Service is what serves VIPs of a kind on this node.
type Service struct {
	Name   string           // for people
	Checks []vrrp.CheckName // that cannot pass without it
	Closed func() bool      // reports whether all of its ports refuse connections; it does not wait
}

// Options are what Run needs.
type Options struct {
	Services []Service
	// Serves reports whether a check passes. A service of which none does is not probed.
	Serves func(vrrp.CheckName) bool
	Fail   func(why string, checks ...vrrp.CheckName)
}

// Run probes the ports until ctx ends.
func Run(ctx context.Context, o Options) error {
	w, last := newWatcher(o), time.Time{}
	for range loop.Every(ctx, health.Closed().Interval) {
		// On a busy host a late probe and the next one may follow each other at once: both would
		// see the same short closure.
		if now := time.Now(); now.Sub(last) >= health.Closed().Interval/2 {
			last = now
			w.probe()
		}
	}
	return nil
}

// watcher has a latch for each service, which passes while a port is open.
type watcher struct {
	Options
	open []health.Latch
}

func newWatcher(o Options) *watcher {
	w := &watcher{Options: o, open: make([]health.Latch, len(o.Services))}
	for i := range w.open {
		w.open[i].Passes = true
	}
	return w
}

func (w *watcher) probe() {
	for i, s := range w.Services {
		found := health.Passed
		if w.serves(s) && s.Closed() {
			found = health.Failed
		}
		w.open[i] = w.open[i].Next(found, health.Closed())
		if !w.open[i].Passes {
			w.Fail(s.Name+": all ports refuse connections", s.Checks...)
			w.open[i] = health.Latch{Passes: true}
		}
	}
}

func (w *watcher) serves(s Service) bool {
	for _, check := range s.Checks {
		if w.Serves(check) {
			return true
		}
	}
	return false
}
