package lateness

import (
	"slices"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/advert"
	"github.com/onprem-infra/onprem-infra/shared/host/capture"
	"github.com/onprem-infra/onprem-infra/shared/timingproof"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Watch finds out whether adverts arrive later than a timing was proven to bear. Its methods may be
// called by any goroutine.
type Watch struct {
	routers []int

	mu    sync.Mutex
	drift *timingproof.Drift
}

// NewWatch watches over a timing, by the adverts of these virtual routers.
func NewWatch(t vrrp.Timing, routers []int) *Watch {
	return &Watch{routers: routers, drift: timingproof.NewDrift(t)}
}

// Received counts an advert of the virtual routers, unless VRRP routers ignore it.
func (w *Watch) Received(h capture.Received) {
	if !slices.Contains(w.routers, int(h.ID)) || !h.Accepted(true) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drift.Add(h.From, int(h.ID), h.Interval, h.Priority == advert.Release, h.At)
}

// Why is why adverts no longer keep to the proof of the timing; empty if they do.
func (w *Watch) Why() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.drift.Why(time.Now())
}
